import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import type { InvoiceDocument } from '../../../src/shop/invoices/document.ts'
import { documentsOf } from '../../../src/shop/invoices/find.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import { goodsOf } from '../../../src/shop/orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import { payOrder } from '../../../src/shop/orders/transition.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { setTaxRate } from '../../../src/shop/tax/rates.ts'
import { noon } from '../../support/temporary-shop.ts'
import { credited, draft, giveBack, line, makeAffiliate, makeProduct, makeUser, place } from './support.ts'

const france = { shippingAddress: { country: 'FR' }, billingAddress: { country: 'FR' } }
const ratesMillionths = { standard: 200_000n, reduced: 55_000n, zero: 0n } as const
type TaxClass = keyof typeof ratesMillionths
type Line = {
  priceMinor: number
  quantity: number
  discountMinor?: number
  taxClass?: TaxClass
  type?: 'physical' | 'digital'
}

/** Makes an empty shop one in France with 20 % and 5.5 %; prices include the tax or not. */
export function makeFrench<T extends Db>(db: T, included = true): T {
  setSetting(db, 'shop.country', 'FR', noon)
  setSetting(db, 'tax.pricesIncludeTax', String(included), noon)
  for (const name of ['standard', 'reduced'] as const) {
    const rateMillionths = Number(ratesMillionths[name])
    setTaxRate(db, { country: 'FR', region: '', name: 'VAT', class: name, rateMillionths })
  }
  return db
}

/** A paid order that an affiliate brought, and its id. */
export function buy(db: Db, lines: readonly Line[], shippingMinor = 0): number {
  const affiliate = makeAffiliate(db, makeUser(db, `${randomUUID()}@shop.example`).id, randomUUID())
  const items = lines.map(({ priceMinor, quantity, discountMinor = 0, taxClass = 'standard', type = 'physical' }) =>
    line(makeProduct(db, { stock: 100, taxClass, type }), {
      quantity,
      unitPriceMinor: priceMinor,
      discountMinor,
      totalMinor: priceMinor * quantity - discountMinor,
      type,
      taxClass
    })
  )
  const method = { id: 'parcel', name: 'Parcel', estimate: null, pickup: false }
  const shipping = shippingMinor === 0 ? {} : { shipping: { method, amountMinor: shippingMinor, renewalMinor: null } }
  const { id } = place(db, draft(items, { attribution: credited(affiliate), ...france, ...shipping }))
  write(db, (tx) => payOrder(tx, id, { by: 'gateway', reason: 'paid' }, noon))
  return id
}

/** What `act` answers, or the fields of the error that it throws. */
export function problemsOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (error instanceof AppError) return error.details['fieldErrors']
    throw error
  }
}

/** The credit notes of an order. */
export function notesOf(db: Db, id: number): InvoiceDocument[] {
  return documentsOf(db, id)
    .slice(1)
    .map(({ document }) => document)
}

/** A random cart, and refunds of its lines, of its shipping and of amounts. */
export const refundedCart = fc.record({
  included: fc.boolean(),
  shippingMinor: fc.oneof(fc.constant(0), fc.nat(2000)),
  lines: fc.array(
    fc.record({
      priceMinor: fc.nat(20_000),
      quantity: fc.integer({ min: 1, max: 6 }),
      discountPercent: fc.constantFrom(0, 10, 33, 100),
      taxClass: fc.constantFrom('standard', 'reduced', 'zero'),
      type: fc.constantFrom('physical', 'physical', 'digital')
    }),
    { minLength: 1, maxLength: 4 }
  ),
  refunds: fc.array(
    fc.record({
      kind: fc.constantFrom('line', 'line', 'shipping', 'amount', 'cheaper'),
      line: fc.nat(3),
      quantity: fc.integer({ min: 1, max: 6 }),
      amountMinor: fc.integer({ min: 1, max: 30_000 })
    }),
    { maxLength: 6 }
  )
})
type RefundedCart = typeof refundedCart extends fc.Arbitrary<infer T> ? T : never

/** What an order comes to, computed here from the cart alone, in whole numbers without limit. */
type Books = { totalMinor: bigint; taxes: ReadonlyMap<bigint, { gross: bigint; tax: bigint }> }

const halfUp = (numerator: bigint, denominator: bigint): bigint => (2n * numerator + denominator) / (2n * denominator)

function taxIn(gross: bigint, rateMillionths: bigint): bigint {
  return halfUp(gross * rateMillionths, 1_000_000n + rateMillionths)
}

/** Divides the shipping by price: every share rounded down, and a unit more for the largest remainders. */
function divide(amount: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((total, weight) => total + weight, 0n)
  const parts = weights.map((weight, index) => ({
    index,
    share: (amount * weight) / sum,
    rest: (amount * weight) % sum
  }))
  const missing = amount - parts.reduce((total, { share }) => total + share, 0n)
  const first = parts.toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1))
  const more = new Set(first.slice(0, Number(missing)).map(({ index }) => index))
  return parts.map(({ index, share }) => share + (more.has(index) ? 1n : 0n))
}

function booksOf({ included, lines, shippingMinor }: Pick<RefundedCart, 'included' | 'shippingMinor'> & Sold): Books {
  const priced = lines.map(({ priceMinor, quantity, discountMinor, taxClass, type }) => {
    const full = BigInt(priceMinor) * BigInt(quantity)
    const off = BigInt(discountMinor)
    const isShipped = type === 'physical'
    return { rate: ratesMillionths[taxClass], price: full - off, full, isShipped }
  })
  const weightsOf = (of: (line: (typeof priced)[number]) => bigint): bigint[] =>
    priced.map((line) => (line.isShipped ? of(line) : 0n))
  // By price; by what the discounts took off if nothing costs anything; evenly if that is nothing, too.
  const choices = [weightsOf(({ price }) => price), weightsOf(({ full, price }) => full - price), priced.map(() => 1n)]
  const weights = choices.find((some) => some.some((weight) => weight > 0n)) ?? []
  const shares = shippingMinor === 0 ? priced.map(() => 0n) : divide(BigInt(shippingMinor), weights)
  const sums = new Map<bigint, bigint>()
  for (const [index, { rate, price }] of priced.entries())
    sums.set(rate, (sums.get(rate) ?? 0n) + price + (shares[index] ?? 0n))
  const taxes = new Map(
    [...sums].map(([rate, sum]) => {
      const tax = included ? taxIn(sum, rate) : halfUp(sum * rate, 1_000_000n)
      return [rate, { gross: sum + (included ? 0n : tax), tax }]
    })
  )
  return { taxes, totalMinor: [...taxes.values()].reduce((total, { gross }) => total + gross, 0n) }
}

type Sold = { lines: readonly Required<Line>[] }

const taxesOf = ({ taxes }: Pick<InvoiceDocument, 'taxes'>) =>
  new Map(
    taxes
      .filter(({ baseMinor, amountMinor }) => baseMinor + amountMinor > 0)
      .map(({ rateMillionths, baseMinor, amountMinor }) => [
        BigInt(rateMillionths),
        { gross: BigInt(baseMinor + amountMinor), tax: BigInt(amountMinor) }
      ])
  )

/**
 * Buys a cart and refunds it to its end. Order and invoice are what the cart comes to, and each credit note has lines,
 * sums and taxes that add up. A note of one line has the tax of that line's rate alone. All notes together return each
 * tax of the invoice, to the minor unit.
 *
 * @param shops a French shop whose prices do not include the tax, and one whose prices do
 */
export function checkDocuments(shops: readonly [Db, Db], cart: RefundedCart): void {
  const { included, refunds } = cart
  const db = shops[included ? 1 : 0]
  const lines = cart.lines.map(({ discountPercent, ...each }) => ({
    ...each,
    discountMinor: Math.floor((each.priceMinor * each.quantity * discountPercent) / 100)
  }))
  const shippingMinor = lines.some(({ type }) => type === 'physical') ? cart.shippingMinor : 0
  const books = booksOf({ included, lines, shippingMinor })
  const id = buy(db, lines, shippingMinor)
  equal(BigInt(getOrder(db, id).totalMinor), books.totalMinor)
  const [invoice] = documentsOf(db, id)
  // An order that costs nothing has no invoice.
  const sold = [...books.taxes].filter(([, { gross }]) => gross > 0n)
  deepEqual(invoice === undefined ? new Map() : taxesOf(invoice.document), new Map(sold))
  let hasAmounts = false
  for (const { kind, line: index, quantity, amountMinor } of [...refunds, rest]) {
    const items = [{ line: index + 1, quantity }]
    const wanted: Readonly<Record<string, WantedRefund>> = {
      line: { items },
      shipping: { shipping: 'all' },
      amount: { amountMinor },
      cheaper: { items, amountMinor },
      rest: {}
    }
    const before = notesOf(db, id).length
    const refunded = problemsOf(() => giveBack(db, id, wanted[kind] ?? {}))
    const note = notesOf(db, id)[before]
    if (typeof refunded !== 'number' || note === undefined) continue
    hasAmounts ||= kind === 'amount'
    checkNote(note, included, before)
    const rate = ratesMillionths[lines[index]?.taxClass ?? 'zero']
    if ((kind === 'line' || kind === 'cheaper') && !hasAmounts) deepEqual([...taxesOf(note).keys()], [rate])
  }
  const order = getOrder(db, id)
  equal(order.refundedMinor, order.totalMinor)
  const notes = notesOf(db, id)
  const returned = new Map<bigint, { gross: bigint; tax: bigint }>()
  for (const note of notes)
    for (const [rate, { gross, tax }] of taxesOf(note)) {
      const known = returned.get(rate) ?? { gross: 0n, tax: 0n }
      returned.set(rate, { gross: known.gross + gross, tax: known.tax + tax })
    }
  for (const [rate, sums] of sold) deepEqual(returned.get(rate), sums)
  const goods = goodsOf(db, order).lines
  for (const { goodsMinor, refundedMinor } of goods) ok(refundedMinor >= 0 && refundedMinor <= goodsMinor)
  ok(goods.reduce((sum, line) => sum + line.goodsMinor, 0) <= order.totalMinor)
}

const rest = { kind: 'rest', line: 0, quantity: 0, amountMinor: 0 }

function checkNote(note: InvoiceDocument, included: boolean, before: number): void {
  const sums = note.taxes.reduce((sum, tax) => sum + tax.baseMinor + tax.amountMinor, 0)
  equal(sums, note.totalMinor)
  const off = note.discounts.reduce((sum, discount) => sum + discount.amountMinor, 0)
  const prices = note.subtotalMinor - off + (note.shipping?.amountMinor ?? 0)
  if (note.lines.length > 0 || note.shipping !== null) equal(prices + (included ? 0 : note.taxMinor), note.totalMinor)
  for (const [rate, { gross, tax }] of taxesOf(note)) {
    const apart = tax - taxIn(gross, rate)
    // The rounding of the order and that of each earlier refund.
    const allowed = BigInt(2 + before)
    ok(apart <= allowed && apart >= -allowed)
  }
}
