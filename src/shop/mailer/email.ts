import type { InvoiceRow } from '../invoices/find.ts'
import type { LawText } from '../settings/law-pages.ts'

/** The content of an email, before it is rendered as HTML and plain text. Nothing in it is escaped yet. */
export type Email = {
  subject: string
  /** Paragraphs before everything else. They may have line breaks, as the closing may. */
  opening: string[]
  /** Short facts, such as the number of an order. */
  facts?: EmailFact[]
  table?: EmailTable
  action?: EmailLink
  /** A second link, which is not a button. */
  also?: EmailLink
  /** Titled blocks of lines, such as addresses. */
  blocks?: EmailBlock[]
  /** Paragraphs after everything else. */
  closing: string[]
  /** Texts of the shop's own, in full, so that the recipient keeps them. */
  lawTexts?: LawText[]
  /** A document of a business that is attached as an electronic invoice. */
  document?: { row: InvoiceRow; url: string }
  /**
   * Anyone can cause this email without paying and without a session of its recipient, so it counts for the recipient's
   * limit (`recipient_email`). Past the limit, an email with `limited` is not sent; the others have limits of their own.
   */
  budget?: 'counted' | 'limited'
  links: { verify?: string; reset?: string; email?: string; undo?: string }
}

export type EmailLink = { label: string; url: string }
export type EmailFact = { label: string; value: string }
export type EmailBlock = { title: string; lines: string[] }

/** A small picture at an absolute https URL, in the size in which it is shown. */
export type EmailPicture = { url: string; width: number; height: number }

/** Line items and the sums below them. Amounts are formatted with their currency. */
export type EmailTable = {
  lines: { label: string; amount: string; picture: EmailPicture | null }[]
  sums: { label: string; amount: string; isTotal: boolean }[]
}

/** The email must not be sent: its account is erased, or what it reports is no longer true. */
export class ObsoleteEmailError extends Error {
  override readonly name = 'ObsoleteEmailError'
}
