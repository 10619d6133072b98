import { shareMinor } from '../../platform/money.ts'
import type { InvoiceTax } from './document.ts'

const grossOf = ({ baseMinor, amountMinor }: InvoiceTax): number => baseMinor + amountMinor

/** What is left of the taxes of an invoice after its credit notes, row by row. */
export function taxesLeft(taxes: readonly InvoiceTax[], credited: readonly (readonly InvoiceTax[])[]): InvoiceTax[] {
  return taxes.map((tax, index) => {
    const before = credited.flatMap((rows) => rows[index] ?? [])
    const sum = (of: (row: InvoiceTax) => number): number => before.reduce((total, row) => total + of(row), 0)
    return {
      ...tax,
      baseMinor: tax.baseMinor - sum(({ baseMinor }) => baseMinor),
      amountMinor: tax.amountMinor - sum(({ amountMinor }) => amountMinor)
    }
  })
}

/**
 * The taxes in a refund of `refundMinor`: each rate in proportion to what is left of it, to the minor unit. A share never
 * exceeds what is left, so the refunds of an order add up to its taxes exactly, however it is split.
 *
 * @param left what is left of the invoice; `refundMinor` must not exceed its sum
 */
export function taxesOfRefund(left: readonly InvoiceTax[], refundMinor: number): InvoiceTax[] {
  const shares = shareMinor(refundMinor, left.map(grossOf))
  return left.map((tax, index) => {
    const [baseMinor = 0, amountMinor = 0] = shareMinor(shares[index] ?? 0, [tax.baseMinor, tax.amountMinor])
    return { ...tax, baseMinor, amountMinor }
  })
}
