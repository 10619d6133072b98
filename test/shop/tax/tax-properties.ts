import { equal, ok } from 'node:assert/strict'
import * as fc from 'fast-check'
import { percentOf } from '../../../src/platform/money.ts'
import { productTypes } from '../../../src/shop/catalog/product-types.ts'
import { taxClasses } from '../../../src/shop/tax/input.ts'
import { taxesLeft, taxesOfRefund } from '../../../src/shop/invoices/part-taxes.ts'
import type { InvoiceTax } from '../../../src/shop/invoices/document.ts'
import { totalsOf } from '../../../src/shop/orders/totals.ts'
import type { TaxRate } from '../../../src/shop/tax/terms.ts'
import { taxInPaid, taxOf } from '../../../src/shop/tax/terms.ts'

const line = fc
  .record({
    type: fc.constantFrom(...productTypes),
    taxClass: fc.constantFrom(...taxClasses),
    unitSteps: fc.nat(50_000),
    quantity: fc.integer({ min: 1, max: 50 }),
    discountBps: fc.oneof(fc.constant(0), fc.constant(10_000), fc.nat(10_000))
  })
  .map(({ unitSteps, quantity, discountBps, ...kind }) => {
    const steps = unitSteps * quantity
    const off = percentOf(steps, discountBps)
    return { ...kind, steps: steps - off, off }
  })
const rate = fc.option(
  fc.oneof(fc.constantFrom(0, 50_000, 70_000, 88_750, 190_000, 255_000, 270_000, 1_000_000), fc.nat(1_000_000)),
  { nil: null, freq: 5 }
)

/** A random cart with its rates, and a list of refunds as shares of what is left. */
export const taxedOrder = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 8 }),
  rates: fc.tuple(rate, rate, rate),
  shippingSteps: fc.oneof(fc.constant(0), fc.nat(5000)),
  included: fc.boolean(),
  currency: fc.constantFrom('EUR', 'JPY', 'KWD', 'UGX'),
  paidPercent: fc.integer({ min: 1, max: 250 }),
  refunds: fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 12 })
})
type TaxedOrder = typeof taxedOrder extends fc.Arbitrary<infer T> ? T : never

const steps: Readonly<Record<string, number>> = { EUR: 1, JPY: 1, KWD: 10, UGX: 100 }

function priced({ lines, rates, shippingSteps, included, currency }: TaxedOrder) {
  const step = steps[currency] ?? 1
  const rateOf = ({ taxClass }: { taxClass: (typeof taxClasses)[number] }): TaxRate | null => {
    const rateMillionths = rates[taxClasses.indexOf(taxClass)] ?? null
    return rateMillionths === null
      ? null
      : { category: 'taxed', name: taxClass, country: 'DE', region: '', destination: 'DE', rateMillionths }
  }
  const carried = {
    lines: lines.map(({ steps: count, off, ...kind }) => ({
      ...kind,
      totalMinor: count * step,
      discountMinor: off * step
    })),
    shippingMinor: shippingSteps * step
  }
  const terms = { included, rateOf }
  const tax = taxOf(terms, carried, currency)
  const { shippingMinor } = carried
  return {
    step,
    terms,
    carried,
    tax,
    totals: totalsOf(carried.lines, { shippingMinor, listShippingMinor: null, tax })
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
const grossOf = (taxes: readonly Pick<InvoiceTax, 'baseMinor' | 'amountMinor'>[]): number =>
  sum(taxes.map(({ baseMinor, amountMinor }) => baseMinor + amountMinor))

/**
 * subtotal − discount + shipping + tax = total, each tax is as near to its exact value as it can be, and the taxes of
 * another paid amount fit into it.
 */
export function checkTaxes(order: TaxedOrder): void {
  const { step, terms, carried, tax, totals } = priced(order)
  const { subtotalMinor, discountMinor, shippingMinor, totalMinor } = totals
  equal(subtotalMinor - discountMinor + shippingMinor + (order.included ? 0 : tax.amountMinor), totalMinor)
  equal(totalMinor % step, 0)
  equal(sum(tax.lines.map(({ amountMinor }) => amountMinor)), tax.amountMinor)
  ok(tax.goodsMinor >= 0 && tax.goodsMinor <= tax.amountMinor)
  const isAllTaxed = carried.lines.every((each) => terms.rateOf(each) !== null)
  const fits = (taxed: number, whole: number): boolean => (isAllTaxed ? taxed === whole : taxed <= whole)
  ok(fits(grossOf(tax.lines), totalMinor))
  for (const { baseMinor, amountMinor, rateMillionths } of tax.lines) {
    const exact = BigInt(order.included ? baseMinor + amountMinor : baseMinor) * BigInt(rateMillionths)
    const divisor = order.included ? 1_000_000n + BigInt(rateMillionths) : 1_000_000n
    const twiceOff = 2n * (BigInt(amountMinor) * divisor - exact)
    const allowed = divisor * BigInt(order.included ? 1 : step)
    ok(twiceOff >= -allowed && twiceOff <= allowed)
  }
  const paidMinor = Math.ceil((totalMinor * order.paidPercent) / 100)
  const paid = taxInPaid(terms, carried, paidMinor)
  ok(fits(grossOf(paid.lines), paidMinor))
  ok(paid.lines.every(({ baseMinor, amountMinor }) => baseMinor >= 0 && amountMinor >= 0))
}

/** Refunds return each tax in proportion to what is left, and all refunds together return the whole. */
export function checkRefunds(order: TaxedOrder): void {
  const { tax, totals } = priced(order)
  const place = { name: '', country: '', region: '', destination: '' }
  const untaxed = { ...place, category: 'none', rateMillionths: 0, amountMinor: 0 } as const
  const rows = [...tax.lines, { ...untaxed, baseMinor: totals.totalMinor - grossOf(tax.lines) }]
  // A third of everything is services.
  const third = (minor: number): number => Math.floor(minor / 3)
  const whole = rows.map((row) => ({
    ...row,
    serviceBaseMinor: third(row.baseMinor),
    serviceAmountMinor: third(row.amountMinor)
  }))
  const credited: InvoiceTax[][] = []
  let restMinor = totals.totalMinor
  for (const share of [...order.refunds, 1000]) {
    const left = taxesLeft(whole, credited)
    const partMinor = Math.floor((restMinor * share) / 1000)
    const part = taxesOfRefund(left, partMinor)
    equal(grossOf(part), partMinor)
    for (const [index, { baseMinor, amountMinor }] of part.entries()) {
      ok(baseMinor >= 0 && amountMinor >= 0)
      const { serviceBaseMinor, serviceAmountMinor } = part[index] ?? { serviceBaseMinor: -1, serviceAmountMinor: -1 }
      ok(serviceBaseMinor >= 0 && serviceBaseMinor <= baseMinor)
      ok(serviceAmountMinor >= 0 && serviceAmountMinor <= amountMinor)
      const from = left[index] ?? { baseMinor: 0, amountMinor: 0 }
      const gross = grossOf([from])
      const exact = gross === 0 ? 0 : ((baseMinor + amountMinor) * from.amountMinor) / gross
      ok(Math.abs(amountMinor - exact) < 1)
    }
    credited.push(part)
    restMinor -= partMinor
  }
  equal(restMinor, 0)
  const left = taxesLeft(whole, credited)
  equal(grossOf(left), 0)
  equal(sum(left.map(({ serviceBaseMinor, serviceAmountMinor }) => serviceBaseMinor + serviceAmountMinor)), 0)
}
