import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mailChecks } from '../../../src/operations/diagnosis/setting-checks.ts'
import { runCheck } from '../../../src/operations/diagnosis/check.ts'
import { notIncluded } from '../../../src/operations/backup/manifest.ts'
import { emailTemplates } from '../../../src/shop/mailer/compose.ts'
import { listOverrides } from '../../../src/shop/mailer/render.ts'
import { previewEmail } from '../../../src/shop/mailer/preview.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import type { App } from '../../../src/app.ts'
import { mailFiles } from '../../support/mail-files.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { queueEveryEmail } from './every-email.ts'
import { sendAll } from './support.ts'

function openShop(files: Record<string, string | Buffer> = {}): TestShop {
  const shop = openTestShop()
  onTestFinished(() => shop[Symbol.dispose]())
  const folder = join(shop.dataDir, 'mail-templates')
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return shop
}

const problemOf = (name: string, content: string | Buffer): string | null =>
  listOverrides(openShop({ [name]: content }).dataDir)[0]?.problem ?? null

describe('a template of the operator', () => {
  it('replaces a part of an email, with values that are escaped in HTML only', async () => {
    const shop = openShop({
      'order_receipt.subject.txt': 'Ihre Bestellung {{orderNumber}} bei {{ shopName }}\n',
      'order_receipt.txt': 'Danke! {{orderTotal}}\n{{table}}\n{{link}}',
      'order_receipt.html': '<style>p{color:red}</style><p title="{{shopName}}">{{orderDate}}</p>{{table}}{{button}}'
    })
    await queueEveryEmail(shop)
    setSetting(shop.db, 'shop.name', 'Tin & "Lantern"', 0)
    setSetting(shop.db, 'emails.orderUrl', 'https://www.example.com/order#{orderToken}', 0)
    await sendAll(shop)
    const receipt = mailFiles(shop.dataDir).find(({ subject }) => subject.startsWith('Ihre Bestellung'))
    expect(receipt?.subject).toMatch(/^Ihre Bestellung \d+ bei Tin & "Lantern"$/)
    expect(receipt?.text).toMatch(/^Danke! €[\d,.]+\n2 × [^]+Total: €[\d,.]+\nhttps:\/\/www\.example\.com\/order#\S+$/)
    expect(receipt?.html).toContain('<p title="Tin &amp; &quot;Lantern&quot;">2026-01-15</p>')
    expect(receipt?.html).toMatch(/<table .*Total.*<a class="button" href="https:\/\/www\.example\.com\/order#/s)
    expect(mailFiles(shop.dataDir).length).toBeGreaterThan(emailTemplates.length)
  })

  it('never loses an email: what cannot be used is replaced by the text of the shop, and health names it', async () => {
    const files = {
      'verify_email.txt': 'Hello!',
      'verify_email.html': '<p>{{content}} {{nothing}}</p>',
      'reset_password.subject.txt': '',
      'recipt.html': '<p>'
    }
    const shop = openShop(files)
    await queueEveryEmail(shop)
    await sendAll(shop)
    const [mail] = mailFiles(shop.dataDir)
    expect(mail?.text).toContain(mail?.links.verify)
    expect(mail?.html).toContain('Verify my email')
    const [check] = mailChecks
    if (check === undefined) throw new Error('The check is missing.')
    const result = await runCheck(shop as unknown as App, check)
    expect(result.status).toBe('warning')
    for (const name of Object.keys(files)) expect(result.message).toContain(name)
    expect(notIncluded(shop.dataDir)).toEqual(['mail-templates'])
  })

  it.each([
    ['order_receipt.html', '{{orderNumber', 'has a placeholder that is not closed'],
    ['order_receipt.html', '{{ordernumber}}', 'has the unknown placeholder {{ordernumber}}'],
    ['order_receipt.html', '{{constructor}}', 'has the unknown placeholder {{constructor}}'],
    ['verify_email.txt', '{{orderNumber}} {{link}}', 'has the unknown placeholder {{orderNumber}}'],
    ['reset_password.html', '<p>{{opening}}</p>', 'lacks the link: {{link}}, {{button}} or {{content}}'],
    ['order_receipt.subject.txt', 'one\ntwo', 'has more than one line'],
    ['order_receipt.txt', ' \n', 'is empty'],
    ['order_receipt.txt', Buffer.from([0xff]), 'is not UTF-8 text'],
    ['order_receipt.txt', 'x'.repeat(200_001), 'is longer than 200000 bytes'],
    ['order_receipt.subject.txt', 'Family 👨‍👩‍👧', null],
    ['order_receipt.subject.txt', 'Order {{table}}', 'has the placeholder {{table}}, which a subject cannot have'],
    ['order_receipt.subject.txt', '{{legal}}', 'has the placeholder {{legal}}, which a subject cannot have'],
    ['order_receipt.md', 'x', 'has the name of no email'],
    ['__proto__.txt', 'x', 'has the name of no email'],
    ['verify_email.subject.txt', 'Hello', null],
    ['verify_email.txt', '{{ link }} {curly} { {', null]
  ])('%s: %o is checked', (name, content, problem) => {
    expect(problemOf(name, content)).toBe(problem)
  })

  it('is not read when it is not a file, or too large to be a text', () => {
    const shop = openShop({ 'order_receipt.txt': '', '.order_receipt.txt.swp': 'x' })
    const fileOf = (name: string): string => join(shop.dataDir, 'mail-templates', name)
    truncateSync(fileOf('order_receipt.txt'), 3 * 2 ** 30)
    symlinkSync('/dev/zero', fileOf('verify_email.txt'))
    mkdirSync(fileOf('verify_email.html'))
    symlinkSync('/does/not/exist', fileOf('order_shipped.txt'))
    expect(listOverrides(shop.dataDir)).toEqual([
      { name: 'order_receipt.txt', problem: 'is longer than 200000 bytes' },
      { name: 'order_shipped.txt', problem: 'is a link to a missing file' },
      { name: 'verify_email.html', problem: 'is not a file' },
      { name: 'verify_email.txt', problem: 'is not a file' }
    ])
  })

  it('is shown with sample data for each email', () => {
    const shop = openShop({ 'order_receipt.txt': 'Nr. {{orderNumber}}: {{content}}' })
    for (const template of emailTemplates) {
      const { subject, text, html, problems } = previewEmail(shop, template, shop.clock.now())
      expect([subject, text, html].filter((part) => part.trim() === '' || part.includes('{{'))).toEqual([])
      expect(problems).toEqual([])
    }
    expect(previewEmail(shop, 'order_receipt', 0)).toMatchObject({
      text: expect.stringMatching(/^Nr\. 1042: We have received/),
      used: ['order_receipt.txt']
    })
    expect(() => previewEmail(shop, 'recipt', 0)).toThrow('There is no email "recipt".')
  })
})

describe('the address of a page in emails', () => {
  it.each([
    ['https://www.example.com/verify?token={token}', true],
    ['{publicUrl}/verify/{token}', true],
    ['https://www.example.com/#/verify/{token}', true],
    ['https://www.example.com/verify', false],
    ['https://{token}.example.com/', false],
    ['https://me:pw@example.com/{token}', false],
    ['javascript:alert({token})', false],
    ['/verify?token={token}', false],
    ['https://www.example.com/{tokn}/{token}', false]
  ])('%s: %s', (value, isAccepted) => {
    const { db } = openShop()
    const set = (): void => setSetting(db, 'emails.verifyUrl', value, 0)
    if (isAccepted) expect(set).not.toThrow()
    else expect(set).toThrow()
  })
})
