import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/platform/log.ts'
import type { MailMessage } from '../../../src/platform/mail/message.ts'
import { createMailTransport } from '../../../src/platform/mail/transport.ts'
import { startMailbox } from '../../support/mailbox.ts'

const log = createLogger({ env: 'test', level: 'silent' })
const message: MailMessage = {
  id: 42,
  createdAt: Date.UTC(2026, 0, 15, 12),
  to: 'lena@shop.example',
  subject: 'Grüße vom Hafen',
  text: 'Hello,\n\nit is here.\n',
  html: '<p>Hello,</p><p>it is here.</p>',
  links: { verify: 'http://localhost:3000/account/verify?token=abc' }
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-mail-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'mail')
}

describe('mail as files', () => {
  it('writes one file per message, readable only by its owner, with the links as fields', async () => {
    const folder = temporaryFolder()
    await createMailTransport({ smtpUrl: null, from: 'shop@localhost', folder, log }).send(message)
    expect(readdirSync(folder)).toEqual(['2026-01-15T12-00-00.000Z-42.json'])
    const file = join(folder, '2026-01-15T12-00-00.000Z-42.json')
    const { to, subject, text, html, links } = message
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ to, subject, text, html, links })
    expect(statSync(file).mode & 0o077).toBe(0)
  })

  it('writes the same file again when a message is repeated', async () => {
    const folder = temporaryFolder()
    const transport = createMailTransport({ smtpUrl: null, from: 'shop@localhost', folder, log })
    await transport.send(message)
    await transport.send(message)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})

describe('mail by SMTP', () => {
  const send = (smtpUrl: string, from = 'Harbour Shop <shop@harbour.example>'): Promise<void> =>
    createMailTransport({ smtpUrl, from, folder: '/nowhere', log }).send(message)

  it('sends text and HTML, with the same Message-ID for a retry', async () => {
    await using mailbox = await startMailbox()
    await send(mailbox.url)
    await send(mailbox.url)
    const [first, second] = mailbox.received
    expect(first?.to).toEqual(['lena@shop.example'])
    expect(first?.header('from')).toBe('Harbour Shop <shop@harbour.example>')
    expect(first?.header('message-id')).toBe(`<shopstead.${message.createdAt}.42@harbour.example>`)
    expect(second?.header('message-id')).toBe(first?.header('message-id'))
    expect(first?.header('subject')).toBe('=?UTF-8?Q?Gr=C3=BC=C3=9Fe_vom_Hafen?=')
    expect(first?.header('auto-submitted')).toBe('auto-generated')
    expect(first?.header('date')).toBe('Thu, 15 Jan 2026 12:00:00 +0000')
    expect(first?.raw).toContain('text/plain')
    expect(first?.raw).toContain('<p>it is here.</p>')
  })

  it('requires TLS from a server on another machine, unless the URL has requireTLS=false', async () => {
    await using mailbox = await startMailbox()
    // This machine under an address that does not look like it.
    const elsewhere = mailbox.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
    await expect(send(elsewhere)).rejects.toMatchObject({ permanent: false, message: expect.stringContaining('TLS') })
    expect(mailbox.received).toEqual([])
    await send(`${elsewhere}?requireTLS=false`)
    expect(mailbox.received).toHaveLength(1)
  })

  it('reports a permanent failure when the server rejects the message', async () => {
    await using mailbox = await startMailbox({ answers: [{ code: 550, message: 'no such lena@shop.example' }] })
    await expect(send(mailbox.url)).rejects.toMatchObject({
      permanent: true,
      message: expect.not.stringContaining('lena')
    })
  })

  it('reports a temporary failure when the server is busy or down', async () => {
    await using mailbox = await startMailbox({ answers: [{ code: 451, message: 'later' }] })
    await expect(send(mailbox.url)).rejects.toMatchObject({ permanent: false })
    await expect(send('smtp://127.0.0.1:1')).rejects.toMatchObject({
      permanent: false,
      message: expect.stringMatching(/^E/)
    })
  })

  it('logs in, and does not repeat a rejected password in the error', async () => {
    await using mailbox = await startMailbox({ login: { user: 'shop', password: 'p@ss w0rd' } })
    await send(mailbox.urlFor('shop', 'p@ss w0rd'))
    expect(mailbox.received).toHaveLength(1)
    const refused = send(mailbox.urlFor('shop', 'wrong-secret'))
    await expect(refused).rejects.toMatchObject({
      permanent: false,
      message: expect.not.stringContaining('wrong-secret')
    })
  })
})
