import { z } from 'zod'
import { postalAddress } from '../../platform/postal/address.ts'
import { seller } from '../settings/seller.ts'
import { taxCategoryNames } from '../tax/categories.ts'
import { vatCheck } from '../tax/input.ts'

/**
 * A tax of an invoice: one row for each category, country, region and rate. The rows add up to the invoice's total.
 * Sales without tax have rows, too: their category says why.
 */
export const invoiceTax = z.object({
  category: z.enum(taxCategoryNames),
  /** Such as `VAT`. Empty for a sale without tax of which the order says nothing. */
  name: z.string(),
  /** Where the tax is owed: an ISO 3166-1 code, or empty when the destination is not known. */
  country: z.string(),
  region: z.string(),
  /** The country of the buyer, or to which the goods go; XI is Northern Ireland. */
  destination: z.string(),
  /** In millionths of one: 190000 is 19 %. */
  rateMillionths: z.number(),
  /** Without the tax. */
  baseMinor: z.number(),
  amountMinor: z.number(),
  /** The parts of the two that are on services. The rest is on goods and their shipping. */
  serviceBaseMinor: z.number(),
  serviceAmountMinor: z.number()
})
export type InvoiceTax = z.output<typeof invoiceTax>

/** Days in the time zone of the shop, as YYYY-MM-DD, both included. */
const days = z.object({ from: z.string(), to: z.string() })

/** A line of an invoice. `unitPriceMinor` and `amountMinor` are as the order has them: with or without tax (`taxIncluded`). */
export const invoiceLine = z.object({
  name: z.string(),
  sku: z.string().nullable(),
  quantity: z.number(),
  unitPriceMinor: z.number(),
  /** Before discounts. */
  amountMinor: z.number(),
  /** What discounts take off. */
  discountMinor: z.number(),
  /** After discounts, without tax. With the shipping, the lines of a tax add up to its row. */
  netMinor: z.number(),
  taxMinor: z.number(),
  /** The index of its row in `taxes`. */
  taxRow: z.number(),
  isService: z.boolean(),
  /** What the line pays for, if that is a time. */
  period: days.exactOptional()
})
export type InvoiceLine = z.output<typeof invoiceLine>

/** What the lines of a document have in common with its shipping: a part of one tax. */
const taxedPart = z.object({ taxRow: z.number(), netMinor: z.number(), taxMinor: z.number() })

/** Who bought. Without an address in the order there are no lines. */
export const invoiceBuyer = z.object({
  /** As on an envelope: name, company, address, country. */
  lines: z.array(z.string()).readonly(),
  /** The same by its parts, for programs. */
  address: postalAddress,
  vatId: z.string().nullable(),
  /** The proof that VIES was asked: its consultation number, and the day in the time zone of the shop. */
  vatCheck: z
    .object({ outcome: vatCheck.shape.outcome, consultation: z.string().nullable(), day: z.string().nullable() })
    .exactOptional(),
  /** What the buyer needs on the electronic invoice, such as the Leitweg-ID of an authority. */
  reference: z.string().exactOptional(),
  /** Of a business, for its electronic invoice: where the invoice is sent, and where goods went. */
  email: z.string().exactOptional(),
  shipTo: postalAddress.exactOptional()
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
  seller,
  /** Where the buyer is, or where the goods go to: an ISO 3166-1 code, or empty if it is not known. */
  country: z.string(),
  /** Days in the time zone of the shop, as YYYY-MM-DD. */
  orderedOn: z.string(),
  paidOn: z.string(),
  /** When the tax arises: the day of the payment, because goods are paid before they are sent. A correction keeps it. */
  suppliedOn: z.string(),
  lines: z.array(invoiceLine).readonly(),
  discounts: z.array(z.object({ label: z.string(), amountMinor: z.number() })).readonly(),
  /** `pickup`: the buyer picks the goods up in the shop. */
  shipping: z
    .object({
      name: z.string(),
      pickup: z.boolean().exactOptional(),
      amountMinor: z.number(),
      parts: z.array(taxedPart).readonly()
    })
    .nullable(),
  subtotalMinor: z.number(),
  taxIncluded: z.boolean(),
  taxMinor: z.number(),
  taxes: z.array(invoiceTax).readonly(),
  totalMinor: z.number(),
  /**
   * For a credit note: its invoice, and whether it credits the invoice as a whole. `rest`: it cancels what earlier credit
   * notes left of the invoice.
   */
  corrects: z
    .object({ number: z.string(), date: z.string(), whole: z.boolean(), rest: z.boolean().exactOptional() })
    .nullable(),
  /** For an invoice: the gift cards that paid for it, by the last four characters of their codes. They are not discounts. */
  giftCards: z.array(z.object({ lastFour: z.string(), amountMinor: z.number() })).exactOptional(),
  /** The day on which the buyer agreed that files are delivered at once, and that the right to withdraw is lost by that. */
  deliveryConsentOn: z.string().exactOptional(),
  /** For an invoice that was issued again with other content: the cancelled one. */
  replaces: z.object({ number: z.string(), date: z.string() }).exactOptional()
})
export type InvoiceDocument = z.output<typeof invoiceDocument>
