import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { nextMail, tokenOf } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'

const password = 'tidal-basalt-93'
const traces = [
  'lena.hartwig@shop.example',
  'lena.now@SHOP.example',
  'Hartwig',
  'Hafenstra',
  'lena.now@shop.example',
  'lena.typo@shop.example'
]

/** The files of the data folder that contain one of the texts. The sandbox stands for Stripe, which has its own records. */
function filesWith(dataDir: string, texts: readonly string[]): string[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('sandbox.db')
  )
  return files
    .filter(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name))
      return texts.some((text) => bytes.includes(text))
    })
    .map(({ name }) => name)
}

it('an erased person is in no byte of the database, its log or the mail folder while the server runs', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const { dataDir } = shop
  const lena = shop.visitor()
  const [email = '', typed = '', , , changed = '', typo = ''] = traces
  await lena.register({ email, password, displayName: 'Lena Hartwig', firstName: 'Lena', lastName: 'Hartwig' })
  await lena.post('/me/address', {
    address: { address1: 'Hafenstraße 3', city: 'Kiel', postcode: '24103', country: 'DE' }
  })
  await lena.post('/auth/forgot-password', { email })
  await nextMail(dataDir, email)
  await lena.post('/auth/change-email', { email: typo, password })
  await nextMail(dataDir, typo)
  await lena.post('/auth/change-email', { email: changed, password })
  const { links } = await nextMail(dataDir, changed)
  await lena.post('/auth/confirm-email', { token: tokenOf(links.email) })
  const address = { lastName: 'Hartwig', address1: 'Hafenstraße 3', city: 'Kiel', country: 'DE' }
  for (const buyer of [lena, shop.visitor()])
    for (let order = 0; order < 2; order += 1)
      await buyer.post('/store/checkout-session', {
        items: [{ productId: 1, quantity: 1 }],
        customer: { email: typed, lastName: 'Hartwig' },
        billingAddress: address
      })
  const exported = await shopstead(dataDir, ['users', 'export', changed, '--json'])
  expect(exported.json).toMatchObject({ earlierEmails: [email], account: { address: { city: 'Kiel' } } })
  const templates = (exported.json['messages'] as { template: string }[]).map(({ template }) => template)
  expect(templates).toEqual(expect.arrayContaining(['email_changed', 'confirm_email', 'reset_password']))
  expect(filesWith(dataDir, traces)).toEqual(expect.arrayContaining([expect.stringMatching(/^shopstead\.db/)]))

  const { sqlite } = shop.app.db
  sqlite.exec('CREATE TABLE old (text); INSERT INTO old VALUES (zeroblob(100000)); DROP TABLE old')
  const freePages = sqlite.pragma('freelist_count', { simple: true })
  await shopstead(dataDir, ['backup', 'create'])
  const [backup = ''] = readdirSync(join(dataDir, 'backups'))
  const erased = await shopstead(dataDir, ['users', 'erase', changed, '--yes', '--json'])
  expect(erased).toMatchObject({ code: 0, json: { status: 'erased', tracesRemoved: true, backups: [backup] } })
  expect(filesWith(dataDir, traces)).toEqual([backup])
  // Buyers did not wait for a rewrite of the file, which would have removed the free pages.
  expect(sqlite.pragma('freelist_count', { simple: true })).toBeGreaterThanOrEqual(Number(freePages))
  expect(freePages).toBeGreaterThan(0)
  expect((await shop.visitor().get('/store/offers')).status).toBe(200)
  expect((await shop.visitor().register({ email })).status).toBe(201)
})

/** A shop with `copies` of a person's email in free pages, as another program would leave them. */
async function shopWithOldContent(copies: number) {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const [email = ''] = traces
  await shop.visitor().register({ email, displayName: 'Lena Hartwig' })
  const { sqlite } = shop.app.db
  sqlite.pragma('secure_delete = OFF')
  sqlite.exec(`CREATE TABLE old (text); INSERT INTO old VALUES ('${`${email} `.repeat(copies)}')`)
  sqlite.exec('DROP TABLE old')
  sqlite.pragma('secure_delete = ON')
  return { shop, email }
}

const eraseLena = (dataDir: string, who: string) => shopstead(dataDir, ['users', 'erase', who, '--yes', '--json'])

it('free pages that contain an erased person are overwritten, and the others stay', async () => {
  const { shop, email } = await shopWithOldContent(200_000)
  expect(await eraseLena(shop.dataDir, email)).toMatchObject({ json: { tracesRemoved: true } })
  expect(filesWith(shop.dataDir, traces)).toEqual([])
  const { sqlite } = shop.app.db
  expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(sqlite.pragma('freelist_count', { simple: true })).toBeGreaterThan(1_000)
})

it('the free space of pages from which rows were moved is overwritten, and rows with the same texts stay', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const [email = ''] = traces
  await shop.visitor().register({ email, displayName: 'Lena Hartwig' })
  const { sqlite } = shop.app.db
  // Rows of different sizes in the middle move rows to other pages, and leave copies of them.
  sqlite.exec('CREATE TABLE moved (id INTEGER PRIMARY KEY, text)')
  const insert = sqlite.prepare('INSERT INTO moved VALUES (?, ?)')
  for (let id = 0; id < 3_000; id += 1) insert.run((id * 7_919) % 100_003, `${email} `.repeat(1 + (id % 5)))
  sqlite.exec(
    "DELETE FROM moved WHERE id % 2 = 0; UPDATE moved SET text = 'gone'; INSERT INTO moved VALUES (0, 'Lena Hartwig')"
  )
  sqlite.pragma('wal_checkpoint(TRUNCATE)')
  expect(filesWith(shop.dataDir, [email])).toEqual(['shopstead.db'])
  expect(await eraseLena(shop.dataDir, email)).toMatchObject({ json: { tracesRemoved: true } })
  expect(
    filesWith(
      shop.dataDir,
      traces.filter((text) => text !== 'Hartwig')
    )
  ).toEqual([])
  expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(sqlite.prepare('SELECT text FROM moved WHERE id = 0').pluck().get()).toBe('Lena Hartwig')
})

it('an erasure that could not remove the traces does so when it is repeated', async () => {
  const { shop, email } = await shopWithOldContent(1_000)
  const reader = new Database(join(shop.dataDir, 'shopstead.db'))
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM users').get()
  const { json } = await eraseLena(shop.dataDir, email)
  expect(json).toMatchObject({ status: 'erased', tracesRemoved: false })
  reader.close()
  expect(await eraseLena(shop.dataDir, '1')).toMatchObject({ code: 0, json: { tracesRemoved: true } })
  expect(filesWith(shop.dataDir, traces)).toEqual([])
})
