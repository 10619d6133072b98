/** What a message says, before it is put into HTML and plain text. Nothing in it is escaped yet. */
export type Email = {
  subject: string
  /** Before the table and the button. */
  opening: string[]
  table?: EmailTable
  action?: { label: string; url: string }
  /** After them. */
  closing: string[]
  links: { verify?: string; reset?: string }
}

export type EmailTable = {
  lines: { label: string; amount: string }[]
  sums: { label: string; amount: string }[]
}

/** Whom or what the message was about has gone, so that nobody is to get it. */
export class ObsoleteEmailError extends Error {
  override readonly name = 'ObsoleteEmailError'
}
