import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { quay } from '../support/addresses.ts'
import { cookiesOf, dataOf, sendRequest } from './http-client.ts'
import type { Reply } from './http-client.ts'
import { openShop } from './open-shop.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { Part, Trial } from './part.ts'
import type { Random } from './random.ts'

const subscription = (interval: string) => ({ type: 'digital', grants: [{ kind: 'subscription', interval }] })
const products = [
  { slug: 'mug', name: 'Mug', price: '12.50', categories: ['Kitchen'], weightGrams: 777 },
  { slug: 'sheet', name: 'Sheet', price: '0.20', type: 'digital', stock: 5000 },
  { slug: 'few', name: 'Few', price: '3.33', stock: 40 },
  {
    slug: 'shirt',
    name: 'Shirt',
    price: '20.00',
    stock: 60,
    variations: [
      { sku: 'S', name: 'Small', price: '19.99' },
      { sku: 'L', name: 'Large', price: '21.01', stock: 30, default: true }
    ]
  },
  { slug: 'club', name: 'Club', price: '8.00', ...subscription('month') },
  { slug: 'letter', name: 'Letter', price: '3.00', ...subscription('year') },
  { slug: 'draft', name: 'Draft', price: '1.00', published: false }
]
const zones = [
  ['Home', '--countries', 'DE', '--method', 'parcel', '--name', 'Parcel', '--amount', '4.90', '--free-from', '40'],
  ['Home', '--method', 'kilo', '--name', 'By weight', '--amount', '1.11', '--per-kg', '3.33', '--max-weight', '6000'],
  ['Alps', '--countries', 'AT,CH', '--method', 'parcel', '--name', 'Parcel', '--amount', '12']
]
const coupons = [
  ['--code', 'PART', '--percent', '33.33'],
  ['--code', 'FIXED', '--amount', '7.77'],
  ['--code', 'FEW', '--percent', '10', '--max-uses', '20'],
  ['--code', 'FREE', '--percent', '100']
]
const card = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }

type Quote = {
  payable: boolean
  lines: { name: string; quantity: number; total: number }[]
  subtotal: number
  discount: number
  shipping: { amount: number }
  tax: { included: boolean; amount: number; lines: object[] }
  total: number
  problems: { path: string; code: string }[]
}
type Order = {
  order: { lineItems: Quote['lines']; totals: Readonly<Record<string, number | boolean>>; taxes: object[] }
}
type Refused = { error: { details: { problems?: Quote['problems'] } } }

export const quotes: Part = {
  name: 'quotes',
  about: 'random carts of several buyers: a quote says what the checkout then does, to the minor unit',
  async run(trial) {
    const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-quotes-'))
    await openShop(trial.packed, dataDir, products)
    for (const coupon of [
      ['settings', 'set', 'limits.coupon_failure', 'off'],
      ['settings', 'set', 'shop.country', 'DE'],
      ['settings', 'set', 'tax.pricesIncludeTax', String(trial.random.oneIn(2))],
      ['tax', 'preset', 'eu'],
      ...coupons.map((flags) => ['coupons', 'create', ...flags]),
      ...zones.map((flags) => ['shipping', 'set', ...flags])
    ])
      await runPacked(trial.packed, { dataDir }, ...coupon)
    const server = await servePacked(trial.packed, { dataDir })
    const buyers = ['', '', '', '']
    try {
      for (let round = 0; round < (trial.isFull ? 10_000 : 100); round += 1) {
        const who = trial.random.between(0, buyers.length - 1)
        buyers[who] = await buy(trial, server.apiRoot, buyers[who] ?? '')
      }
    } finally {
      await server.end()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** Quotes a random cart, checks it out and compares the two. Returns the buyer's cookie. */
async function buy(trial: Trial, apiRoot: string, cookie: string): Promise<string> {
  const body = randomCart(trial.random)
  const text = JSON.stringify(body)
  const quoted = await sendRequest(`${apiRoot}/store/quote`, { headers: { cookie }, body })
  const quote = dataOf<Quote>(quoted)
  const checkout = await sendRequest(`${apiRoot}/store/checkout-session`, { headers: { cookie }, body })
  if (quote.payable !== (checkout.status === 200))
    trial.violation(`payable ${quote.payable}, but checkout answered ${checkout.status}: ${text} ${checkout.text}`)
  else if (quote.payable) await compareOrder(trial, apiRoot, quote, checkout)
  else compareProblems(trial, quote, checkout, text)
  return cookiesOf(checkout) || cookie
}

async function compareOrder(trial: Trial, apiRoot: string, quote: Quote, checkout: Reply): Promise<void> {
  const { orderToken } = dataOf<{ orderToken: string }>(checkout)
  const { order } = dataOf<Order>(await sendRequest(`${apiRoot}/store/orders/${orderToken}`))
  const promised = {
    subtotal: quote.subtotal,
    discount: quote.discount,
    shipping: quote.shipping.amount,
    tax: quote.tax.amount,
    taxIncluded: quote.tax.included,
    taxes: quote.tax.lines,
    total: quote.total,
    lines: quote.lines.map(({ name, quantity, total }) => ({ name, quantity, total }))
  }
  const made = { ...order.totals, taxes: order.taxes, lines: order.lineItems }
  trial.count('orders that equal their quote')
  if (!isDeepStrictEqual(promised, made))
    trial.violation(`quoted ${JSON.stringify(promised)}, ordered ${JSON.stringify(made)}`)
}

function compareProblems(trial: Trial, quote: Quote, { text }: Reply, cart: string): void {
  const refused = (JSON.parse(text) as Refused).error.details.problems ?? []
  const names = new Set(quote.problems.map(({ path, code }) => `${path} ${code}`))
  const missing = refused.filter(({ path, code }) => !names.has(`${path} ${code}`))
  for (const { code } of refused) trial.count(`refused: ${code}`)
  if (refused.length === 0 || missing.length > 0)
    trial.violation(`quoted ${[...names].join(', ')} for ${cart}, refused ${text}`)
}

function randomCart(random: Random): object {
  const items = Array.from({ length: random.pick([1, 1, 2, 3, 5]) }, () => ({
    productId: random.oneIn(15) ? random.pick([7, 99]) : random.between(1, 6),
    quantity: random.between(1, 4),
    ...(random.oneIn(6) ? { variationId: random.pick([1, 2, 77]) } : {})
  }))
  const couponCodes = random.oneIn(3) ? [random.pick(['part', 'FIXED', 'FEW', 'FREE', 'NOPE'])] : []
  const country = random.pick(['DE', 'DE', 'DE', 'AT', 'FR'])
  const shippingMethod = random.pick(['parcel', 'parcel', 'kilo', 'drone', undefined])
  const shipping = { shippingAddress: { ...quay, country }, shippingMethod }
  const vatId = random.pick([undefined, undefined, 'ATU12345675', 'FR40303265045', 'DE136695976', 'FR1'])
  return { items, couponCodes, customer: { vatId }, ...shipping, ...(random.oneIn(3) ? card : {}) }
}
