/** A tax of an invoice: one row for each country, region and rate. The rows add up to the invoice's total. */
export type InvoiceTax = {
  /** Such as `VAT`. Empty for a part of the total without tax. */
  name: string
  /** Where the tax is owed: an ISO 3166-1 code, or empty when the destination is not known. */
  country: string
  region: string
  /** In millionths of one: 190000 is 19 %. */
  rateMillionths: number
  /** Without the tax. */
  baseMinor: number
  amountMinor: number
}

/** A line of an invoice. Amounts are as the order has them: with or without tax (`taxIncluded`). */
export type InvoiceLine = {
  name: string
  sku: string | null
  quantity: number
  unitPriceMinor: number
  /** Quantity times price, before discounts. */
  amountMinor: number
  /** In millionths of one; 0 without tax. Missing on documents of earlier versions, and if the rate is not known. */
  rateMillionths?: number
}

/** Who bought. Without an address in the order there are no lines. */
export type InvoiceBuyer = {
  /** As on an envelope: name, company, address, country. */
  lines: readonly string[]
  vatId: string | null
}

/**
 * The content of an invoice or a credit note, without its buyer. It is stored when the document is issued and never
 * changes, whatever happens to the order, the products, the settings or the tax rates. The amounts of a credit note are
 * positive: they are what the buyer gets back.
 */
export type InvoiceDocument = {
  seller: { name: string; legal: string }
  /** Days in the time zone of the shop, as YYYY-MM-DD. */
  orderedOn: string
  paidOn: string
  lines: readonly InvoiceLine[]
  discounts: readonly { label: string; amountMinor: number }[]
  /** `pickup`: the buyer picks the goods up in the shop. */
  shipping: { name: string; pickup?: boolean; amountMinor: number } | null
  subtotalMinor: number
  taxIncluded: boolean
  taxMinor: number
  taxes: readonly InvoiceTax[]
  /** The buyer owes the tax (Article 196 of Directive 2006/112/EC). */
  reverseCharge: boolean
  totalMinor: number
  /** For a credit note: its invoice, and whether it credits the invoice as a whole. */
  corrects: { number: string; date: string; whole: boolean } | null
}
