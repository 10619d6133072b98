/** The content of an email, before it is rendered as HTML and plain text. Nothing in it is escaped yet. */
export type Email = {
  subject: string
  /** Paragraphs before the table and the button. */
  opening: string[]
  table?: EmailTable
  action?: { label: string; url: string }
  /** Paragraphs after the table and the button. */
  closing: string[]
  links: { verify?: string; reset?: string }
}

/** Line items and the sums below them. Amounts are formatted with their currency. */
export type EmailTable = {
  lines: { label: string; amount: string }[]
  sums: { label: string; amount: string }[]
}

/** The email must not be sent: its account is erased, or its link no longer works. */
export class ObsoleteEmailError extends Error {
  override readonly name = 'ObsoleteEmailError'
}
