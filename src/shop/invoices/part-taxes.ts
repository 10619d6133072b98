import { shareMinor } from '../../platform/money.ts'
import type { InvoiceDocument, InvoiceTax } from './document.ts'

/** A part of a document that has a tax: a line, or a part of the shipping. `taxRow` is the index of its row. */
export type TaxedPart = { taxRow: number; netMinor: number; taxMinor: number; isService: boolean }

/** The parts of a document. Those of an invoice add up to its taxes, row by row. */
export function taxedParts({ lines, shipping }: Pick<InvoiceDocument, 'lines' | 'shipping'>): TaxedPart[] {
  return [...lines, ...(shipping?.parts ?? []).map((part) => ({ ...part, isService: false }))]
}

/** A tax with the parts of it that are on services. */
export function withServices<T extends Pick<InvoiceTax, 'baseMinor' | 'amountMinor'>>(
  tax: T,
  taxRow: number,
  parts: readonly TaxedPart[]
): T & Pick<InvoiceTax, 'serviceBaseMinor' | 'serviceAmountMinor'> {
  const services = parts.filter((part) => part.isService && part.taxRow === taxRow)
  return {
    ...tax,
    serviceBaseMinor: services.reduce((sum, { netMinor }) => sum + netMinor, 0),
    serviceAmountMinor: services.reduce((sum, { taxMinor }) => sum + taxMinor, 0)
  }
}

const grossOf = ({ baseMinor, amountMinor }: InvoiceTax): number => baseMinor + amountMinor
const amounts = ['baseMinor', 'amountMinor', 'serviceBaseMinor', 'serviceAmountMinor'] as const

/** What is left of the taxes of an invoice after its credit notes, row by row. */
export function taxesLeft(taxes: readonly InvoiceTax[], credited: readonly (readonly InvoiceTax[])[]): InvoiceTax[] {
  return taxes.map((tax, index) => {
    const left = { ...tax }
    for (const row of credited.flatMap((rows) => rows[index] ?? [])) for (const name of amounts) left[name] -= row[name]
    return left
  })
}

/** A part of a tax, of which services have their share, or as near to `services` as what is left allows. */
function partOfTax(left: InvoiceTax, baseMinor: number, amountMinor: number, services?: Services): InvoiceTax {
  const share = (partMinor: number, wholeMinor: number, serviceMinor: number, wanted: number | undefined): number => {
    const [inProportion = 0] = partMinor === 0 ? [] : shareMinor(partMinor, [serviceMinor, wholeMinor - serviceMinor])
    const least = Math.max(0, partMinor - (wholeMinor - serviceMinor))
    return Math.max(least, Math.min(wanted ?? inProportion, serviceMinor, partMinor))
  }
  return {
    ...left,
    baseMinor,
    amountMinor,
    serviceBaseMinor: share(baseMinor, left.baseMinor, left.serviceBaseMinor, services?.serviceBaseMinor),
    serviceAmountMinor: share(amountMinor, left.amountMinor, left.serviceAmountMinor, services?.serviceAmountMinor)
  }
}

type Services = Pick<InvoiceTax, 'serviceBaseMinor' | 'serviceAmountMinor'>

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
    return partOfTax(tax, baseMinor, amountMinor)
  })
}

/**
 * The taxes in a refund of things, each at its own rate. If an earlier refund of an amount left less of a rate than the
 * things cost, the other rates carry the rest in proportion, so that the refunds add up to the taxes of the invoice.
 */
export function taxesOfReturn(left: readonly InvoiceTax[], taxed: readonly TaxedPart[]): InvoiceTax[] {
  const sumOf = (row: number, of: (each: TaxedPart) => number): number =>
    taxed.reduce((sum, each) => sum + (each.taxRow === row ? of(each) : 0), 0)
  const wanted = left.map((_, row) => sumOf(row, ({ netMinor, taxMinor }) => netMinor + taxMinor))
  const granted = left.map((tax, row) => Math.min(wanted[row] ?? 0, grossOf(tax)))
  const restMinor = sumBy(wanted) - sumBy(granted)
  const rest = shareMinor(
    restMinor,
    left.map((tax, row) => grossOf(tax) - (granted[row] ?? 0))
  )
  return left.map((tax, row) => {
    const amount = (granted[row] ?? 0) + (rest[row] ?? 0)
    const taxMinor = sumOf(row, (each) => each.taxMinor)
    const services = withServices(tax, row, taxed)
    const isExact = amount === wanted[row] && taxMinor <= tax.amountMinor && amount - taxMinor <= tax.baseMinor
    if (isExact) return partOfTax(tax, amount - taxMinor, taxMinor, services)
    const [baseMinor = 0, amountMinor = 0] = shareMinor(amount, [tax.baseMinor, tax.amountMinor])
    return partOfTax(tax, baseMinor, amountMinor, services)
  })
}

function sumBy(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
