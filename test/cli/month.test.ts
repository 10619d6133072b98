import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giftCardsReport } from '../../src/operations/reports/gift-cards.ts'
import { journalReport } from '../../src/operations/reports/journal.ts'
import { salesReport } from '../../src/operations/reports/sales.ts'
import { taxReport } from '../../src/operations/reports/tax.ts'
import { choosePayment } from '../../src/shop/checkout/order-form.ts'
import { cardsSoldBy } from '../../src/shop/gift-cards/cards.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { readyGateway } from '../../src/shop/payments/gateway.ts'
import { settlePayments } from '../../src/shop/payments/reconcile.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shopDay } from '../../src/shop/settings/shop-days.ts'
import { shopstead } from '../support/command-line.ts'
import type { Ran } from '../support/command-line.ts'
import { laterTasks, monthShelf, openingTasks, purchases } from '../support/month.ts'
import { orderOf } from '../support/month-orders.ts'
import type { Task, TaskTitle } from '../support/month.ts'
import { makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { whoGave } from '../support/visitors.ts'

const folder = temporaryFolder(afterAll)
const shop = await startShop({ seed: monthShelf })
afterAll(() => shop.stop())
const { app } = shop
const { db, sandbox } = app
if (sandbox === null) throw new Error('this shop has no sandbox')
const env = { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' }
const dayMs = 86_400_000
const inDays = (days: number): string => shopDay(db, app.clock.now() + days * dayMs)

/** What the names in the commands stand for. */
const names: Record<string, string> = { tomorrow: inDays(1), nextWeek: inDays(7) }
const nameOf = (name: string): string => names[name] ?? join(folder, name)

beforeAll(async () => {
  setSetting(db, 'shop.country', 'DE', app.clock.now())
  setSetting(db, 'checkout.heldOrdersPerAddress', '1000', app.clock.now())
  await makeUser(app, { email: 'mona@shop.example', marketingOptIn: true, verified: true })
  const jpeg = await sharp({ create: { width: 400, height: 300, channels: 3, background: '#a04020' } })
    .jpeg()
    .toBuffer()
  writeFileSync(nameOf('gansey.jpg'), jpeg)
  writeFileSync(nameOf('supplier.csv'), 'name,price,stock\nCandle,4.50,60\nMatches,1.20,200\n')
})

type Printed = Record<string, unknown> & { order: { id: number }; orders: { email: string }[]; code: string }

/** Runs the command of a task as an operator types it. */
function run(command: string): Promise<Ran<Printed>> {
  const words = command.match(/"[^"]*"|\S+/g) ?? []
  const args = words.map((word) =>
    word.replaceAll('"', '').replaceAll(/\{(.+?)\}/g, (_all, name: string) => nameOf(name))
  )
  return shopstead<Printed>(shop.dataDir, [...args, '--json'], { env })
}

let giftCard = ''

/** The buyer pays what is due of an order on the page of its link. */
async function payLink(id: number, email: string): Promise<void> {
  await choosePayment(app, id, { method: 'card', email: null, firstName: null, lastName: null }, whoGave(email))
  await sandbox?.payCheckout(attemptsOf(db, id)[0]?.objectId ?? '', { waitMs: 0 })
  await settlePayments(app, { underWay: 'take' })
}

const minor = (amount: unknown): number => Math.round(Number(amount) * 100)
const number = (sql: string): number => Number(db.sqlite.prepare(sql).pluck().get())

/**
 * The books: what the gateway, the till and gift cards have taken less what they have given back is what the documents say,
 * and so do the journal, the tax report and the sales report. What is on gift cards is what the shop owes.
 */
async function expectBooks(): Promise<void> {
  const stripe = await readyGateway(app).client()
  let charged = 0
  for await (const { paid, amount, amount_refunded: back } of stripe.charges.list({ limit: 100 }))
    if (paid) charged += amount - back
  const byHand = number(`SELECT coalesce(sum(total_minor - refunded_minor), 0) FROM orders o WHERE paid_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM payment_attempts WHERE order_id = o.id AND outcome = 'paid' AND gateway <> 'manual')
    AND NOT EXISTS (SELECT 1 FROM order_credits WHERE order_id = o.id)`)
  const cards = -number(
    `SELECT coalesce(sum(amount_minor), 0) FROM gift_card_entries WHERE kind IN ('used', 'returned')`
  )
  const documents = number(`SELECT coalesce(sum(iif(kind = 'invoice', total_minor, -total_minor)), 0) FROM invoices`)
  const days = { from: inDays(-1), to: inDays(1) }
  const now = app.clock.now()
  const journal = await journalReport.make({ db }, days, now)
  const tax = await taxReport.make({ db }, days, now)
  const sales = await salesReport.make({ db }, { ...days, by: 'day' }, now)
  const owed = await giftCardsReport.make({ db }, days, now)
  const sum = (rows: readonly Record<string, unknown>[], name: string): number =>
    rows.reduce((total, row) => total + minor(row[name]), 0)
  const vouchers = sum(sales.rows, 'giftCards')
  expect({
    documents: charged + byHand + cards,
    journal: sum(journal.rows, 'gross'),
    tax: sum(tax.totals ?? [], 'gross'),
    sales: sum(sales.rows, 'net') + vouchers,
    owed: sum(owed.rows, 'closing')
  }).toEqual({
    documents,
    journal: documents,
    tax: documents,
    sales: documents,
    owed: number('SELECT coalesce(sum(balance_minor), 0) FROM gift_cards')
  })
  expect(number('SELECT min(stock) FROM products WHERE stock IS NOT NULL')).toBeGreaterThanOrEqual(0)
  expect(number('SELECT min(stock) FROM variations WHERE stock IS NOT NULL')).toBeGreaterThanOrEqual(0)
}

const stockOf = (slug: string): number => number(`SELECT stock FROM products WHERE slug = '${slug}'`)
const sizeStock = (): unknown[] =>
  db.sqlite.prepare(`SELECT stock FROM variations WHERE sku LIKE 'GANSEY-%' ORDER BY sku DESC`).pluck().all()

/** What each task prints, and what one sees afterwards. */
const shows: Record<TaskTitle, (printed: Printed) => unknown> = {
  'offer a new product in three sizes with a picture': () => expect(sizeStock()).toEqual([3, 5, 2]),
  'raise a price': (printed) => expect(printed).toMatchObject({ offer: { price: { amount: 13.5 } } }),
  'take in a delivery': () => expect(stockOf('mug')).toBe(44),
  'bring in the list of a supplier': () => expect([stockOf('candle'), stockOf('matches')]).toEqual([60, 200]),
  'create a coupon for the newsletter': (printed) => expect(printed).toMatchObject({ coupon: { code: 'SPRING' } }),
  'lower a price for some days': (printed) => expect(printed).toMatchObject({ sale: { name: 'Spring days' } }),
  'issue a gift card as an apology'(printed) {
    expect(printed).toMatchObject({ giftCard: { balance: 20, recipientEmail: 'fay@shop.example' } })
    giftCard = printed.code
  },
  'list what is to be packed, with packing slips'(printed) {
    expect(printed.orders).toHaveLength(11)
    expect(readFileSync(nameOf('slips.html'), 'utf8')).toContain('Gansey')
  },
  'correct a wrong street': (printed) =>
    expect(printed).toMatchObject({ order: { shippingAddress: { address1: 'Quay 9' } } }),
  'ship an order with its tracking number': (printed) =>
    expect(printed).toMatchObject({ order: { status: 'completed', shipments: [{ carrier: 'DHL' }] } }),
  'ship a part of an order': (printed) => expect(printed).toMatchObject({ order: { status: 'processing' } }),
  'hand over what a buyer picks up': (printed) => expect(printed).toMatchObject({ order: { status: 'completed' } }),
  'enter an order by phone and send its link'(printed) {
    expect(printed).toMatchObject({ order: { status: 'pending', total: 44.9 } })
    names['nils'] = String(printed.order.id)
  },
  'record a bank transfer': (printed) =>
    expect(printed).toMatchObject({ order: { status: 'processing', paidBy: 'by_hand' } }),
  'correct a mistyped email': (printed) => expect(printed).toMatchObject({ order: { email: 'cleo@shop.example' } }),
  'send a receipt again': (printed) => expect(JSON.stringify(printed)).toContain('cleo@shop.example'),
  'take a line out of a paid order': (printed) => expect(printed).toMatchObject({ order: { refunded: 13.5 } }),
  'add something to a paid order': (printed) => expect(printed).toMatchObject({ order: { id: Number(names['emil']) } }),
  'cancel an order that was not paid': (printed) => expect(printed).toMatchObject({ order: { status: 'cancelled' } }),
  'put a company on an invoice': (printed) => expect(JSON.stringify(printed)).toContain('Slow Coast Ltd'),
  'return the money for a broken piece': (printed) => expect(printed).toMatchObject({ refund: { amount: 13.5 } }),
  'return a part of the price as goodwill': (printed) =>
    expect(printed).toMatchObject({ refund: { amount: 5, way: 'gateway' } }),
  'expect goods that come back': (printed) => expect(printed).toMatchObject({ order: { refunded: 0 } }),
  'take goods back and refund them': (printed) => expect(printed).toMatchObject({ order: { refunded: 40 } }),
  'exchange a size': () => expect(sizeStock()).toEqual([3, 4, 2]),
  'block a stolen gift card': (printed) =>
    expect(printed).toMatchObject({ giftCard: { state: 'blocked', balance: 25 } }),
  'find the buyers of a recalled product': ({ orders }) =>
    expect(new Set(orders.map(({ email }) => email.split('@')[0]))).toEqual(
      new Set(['ben', 'dora', 'emil', 'gil', 'ivo', 'jon', 'nils'])
    ),
  'export who wants news': () => expect(readFileSync(nameOf('news.csv'), 'utf8')).toContain('mona@shop.example'),
  'close the shop for a holiday': (printed) => expect(printed).toMatchObject({ holiday: { until: inDays(7) } }),
  'hand the documents to the accountant': () => expect(readdirSync(nameOf('documents')).length).toBeGreaterThan(15)
}

async function doTask({ title, command, given = [] }: Task & { title: TaskTitle }): Promise<void> {
  for (const before of given) expect(await run(before)).toMatchObject({ code: 0 })
  const { code, stderr, stdout, json } = await run(command)
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  shows[title](json)
  await expectBooks()
}

describe("a shop's month from the command line, with equal sums in the books after each task", () => {
  it.each(openingTasks)('$title', doTask)

  it('the buyers order on the website', async () => {
    for (const [name, purchase] of Object.entries(purchases))
      names[name] = await orderOf(shop, name, purchase, giftCard)
    names['cardOfLou'] = String(cardsSoldBy(db, Number(names['lou']))[0]?.id)
    await expectBooks()
  })

  it.each(laterTasks)('$title', async (task) => {
    await doTask(task)
    if (task.title !== 'add something to a paid order') return
    const addition = number(`SELECT id FROM orders WHERE added_to = ${names['emil'] ?? ''}`)
    await payLink(addition, 'emil@shop.example')
    await expectBooks()
  })
})
