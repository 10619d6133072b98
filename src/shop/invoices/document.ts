import { z } from 'zod'

/** A tax of an invoice: one row for each country, region and rate. The rows add up to the invoice's total. */
export const invoiceTax = z.object({
  /** Such as `VAT`. Empty for a part of the total without tax. */
  name: z.string(),
  /** Where the tax is owed: an ISO 3166-1 code, or empty when the destination is not known. */
  country: z.string(),
  region: z.string(),
  /** In millionths of one: 190000 is 19 %. */
  rateMillionths: z.number(),
  /** Without the tax. */
  baseMinor: z.number(),
  amountMinor: z.number()
})
export type InvoiceTax = z.output<typeof invoiceTax>

/** A line of an invoice. Amounts are as the order has them: with or without tax (`taxIncluded`). */
const invoiceLine = z.object({
  name: z.string(),
  sku: z.string().nullable(),
  quantity: z.number(),
  unitPriceMinor: z.number(),
  /** Quantity times price, before discounts. */
  amountMinor: z.number(),
  /** In millionths of one; 0 without tax. Missing if the rate is not known. */
  rateMillionths: z.number().exactOptional()
})

/** Who bought. Without an address in the order there are no lines. */
export const invoiceBuyer = z.object({
  /** As on an envelope: name, company, address, country. */
  lines: z.array(z.string()).readonly(),
  vatId: z.string().nullable()
})
export type InvoiceBuyer = z.output<typeof invoiceBuyer>

/**
 * The content of an invoice or a credit note, without its buyer. It is stored when the document is issued and never
 * changes, whatever happens to the order, the products, the settings or the tax rates. The amounts of a credit note are
 * positive: they are what the buyer gets back.
 */
export const invoiceDocument = z.object({
  /** The form of this object. A document of another form is not read as if it were this one. */
  version: z.literal(1),
  /** The language tag of its texts. */
  language: z.string(),
  seller: z.object({ name: z.string(), legal: z.string() }),
  /** Days in the time zone of the shop, as YYYY-MM-DD. */
  orderedOn: z.string(),
  paidOn: z.string(),
  lines: z.array(invoiceLine).readonly(),
  discounts: z.array(z.object({ label: z.string(), amountMinor: z.number() })).readonly(),
  /** `pickup`: the buyer picks the goods up in the shop. */
  shipping: z.object({ name: z.string(), pickup: z.boolean().exactOptional(), amountMinor: z.number() }).nullable(),
  subtotalMinor: z.number(),
  taxIncluded: z.boolean(),
  taxMinor: z.number(),
  taxes: z.array(invoiceTax).readonly(),
  /** The buyer owes the tax (Article 196 of Directive 2006/112/EC). */
  reverseCharge: z.boolean(),
  totalMinor: z.number(),
  /**
   * For a credit note: its invoice, and whether it credits the invoice as a whole. `rest`: it cancels what earlier credit
   * notes left of the invoice.
   */
  corrects: z
    .object({ number: z.string(), date: z.string(), whole: z.boolean(), rest: z.boolean().exactOptional() })
    .nullable(),
  /** For an invoice that was issued again with other content: the cancelled one. */
  replaces: z.object({ number: z.string(), date: z.string() }).exactOptional()
})
export type InvoiceDocument = z.output<typeof invoiceDocument>
