import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { checkOut, fieldErrors } from '../api/checkout-support.ts'
import { Browser } from '../support/browser.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import { spawnShop } from '../support/spawned-shop.ts'

/** A few rounds with every test run; `npm run races` asks for fifty. */
const rounds = Number(process.env['RACE_ROUNDS'] ?? 5)
const asking = 50

const numbers = Array.from({ length: rounds }, (_, index) => index + 1)
const catalogue = {
  products: [
    ...numbers.map((number) => ({ slug: `last-${number}`, name: `Last ${number}`, price: '5.00', stock: 1 })),
    { slug: 'plenty', name: 'Plenty', price: '5.00' }
  ],
  coupons: numbers.flatMap((number) => [
    { code: `ONCE${number}`, percent: 10, maxUses: 1 },
    { code: `EACH${number}`, percent: 10, maxUsesPerCustomer: 1 }
  ])
}
const plenty = { productId: rounds + 1, quantity: 1 }

let db: Db
let servers: string[]
let session: string

/** Two servers, each a process of its own, on one data folder; the test itself looks at the database as a third. */
beforeEach(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-races-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const shop = await startShop({ dataDir, seed: catalogue })
  for (const bucket of ['checkout_ip', 'coupon_failure'] as const) {
    setSetting(shop.app.db, `limits.${bucket}`, 'off', shop.app.clock.now())
  }
  await makeUser(shop.app, { email: 'lena@shop.example' })
  const lena = shop.visitor()
  await lena.post('/auth/login', { email: 'lena@shop.example', password: goodPassword })
  session = [...lena.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  await shop.stop()
  const spawned = await Promise.all([spawnShop(dataDir), spawnShop(dataDir)])
  servers = spawned.map(({ apiRoot }) => apiRoot)
  db = openDatabase(join(dataDir, 'shopstead.db'), { mustExist: true })
  onTestFinished(() => void db.sqlite.close())
})

/** Fifty at once, by turns to one server and the other. */
function fifty(body: (index: number) => unknown, options: { headers?: Record<string, string>; key?: string } = {}) {
  const { headers, key } = options
  return Promise.all(
    Array.from({ length: asking }, (_, index) =>
      checkOut(new Browser(servers[index % 2] ?? '', headers), body(index), key === undefined ? {} : { key })
    )
  )
}

type Answers = Awaited<ReturnType<typeof fifty>>

function results(answers: Answers) {
  const refused = answers.filter((answer) => answer.status !== 200)
  return {
    won: answers.filter((answer) => answer.status === 200).length,
    refused: [...new Set(refused.map((answer) => `${answer.status} ${fieldErrors(answer).join()}`))]
  }
}

function all(query: string): unknown[] {
  return db.sqlite.prepare(query).pluck().all()
}

/** What has to be true whoever won. */
function expectTrueBooks(orders: number): void {
  expect(all('SELECT count(*) FROM orders')).toEqual([orders])
  expect(all('SELECT id FROM products WHERE stock < 0')).toEqual([])
  expect(
    all(`SELECT code FROM coupons c
         WHERE used <> (SELECT count(*) FROM order_coupons o WHERE o.coupon_id = c.id AND o.counted = 1)`)
  ).toEqual([])
  expect(all('SELECT id FROM coupons WHERE used > max_uses')).toEqual([])
}

const emailOf = (index: number) => ({ email: `buyer-${index}@shop.example` })

test(`the last unit goes to one of ${asking} who ask two processes at once, in each of ${rounds} rounds`, async () => {
  for (const number of numbers) {
    const answers = await fifty((index) => ({ items: [{ productId: number, quantity: 1 }], customer: emailOf(index) }))
    expect(results(answers)).toEqual({ won: 1, refused: ['422 items.0.quantity'] })
  }
  expectTrueBooks(rounds)
  expect(all('SELECT DISTINCT stock FROM products WHERE stock IS NOT NULL')).toEqual([0])
})

test(`the last use of a coupon goes to one of ${asking}, in each of ${rounds} rounds`, async () => {
  for (const number of numbers) {
    const answers = await fifty((index) => ({ items: [plenty], couponCode: `ONCE${number}`, customer: emailOf(index) }))
    expect(results(answers)).toEqual({ won: 1, refused: ['422 couponCode'] })
  }
  expectTrueBooks(rounds)
  expect(all("SELECT DISTINCT used FROM coupons WHERE code LIKE 'ONCE%'")).toEqual([1])
})

test(`a guest's one use of a coupon is one of ${asking}, in each of ${rounds} rounds`, async () => {
  for (const number of numbers) {
    const body = { items: [plenty], couponCode: `EACH${number}`, customer: { email: 'ada@shop.example' } }
    expect(results(await fifty(() => body))).toEqual({ won: 1, refused: ['422 couponCode'] })
  }
  expectTrueBooks(rounds)
})

test(`a customer's one use of a coupon is one of ${asking}, logged in or by email, in each of ${rounds} rounds`, async () => {
  for (const number of numbers) {
    const body = { items: [plenty], couponCodes: [`EACH${number}`], customer: { email: 'Lena@shop.example' } }
    const both = await Promise.all([fifty(() => body, { headers: { cookie: session } }), fifty(() => body)])
    expect(results(both.flat())).toEqual({ won: 1, refused: ['422 couponCodes.0'] })
  }
  expectTrueBooks(rounds)
})

test(`one key makes one order of ${asking} requests to two processes, in each of ${rounds} rounds`, async () => {
  for (const number of numbers) {
    const answers = await fifty(() => ({ items: [plenty] }), { key: `round-${number}` })
    const done = answers.filter((answer) => answer.status === 200)
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1)
    const others = answers.filter((answer) => answer.status !== 200)
    expect(others.filter(({ error }) => error.details['reason'] !== 'in_progress')).toEqual([])
  }
  expectTrueBooks(rounds)
})
