export type MailAttachment = { name: string; type: string; content: Uint8Array }

/** A rendered email. A retry after a crash sends the same bytes with the same id. */
export type MailMessage = {
  id: number
  /** When the message was queued, in epoch milliseconds. */
  createdAt: number
  to: string
  subject: string
  text: string
  html: string
  /** Links with a token, for programs that read message files instead of a mailbox. */
  links: { verify?: string; reset?: string; email?: string }
  attachments?: readonly MailAttachment[]
}

/** A message was not sent. Its text has the server's own words without addresses and credentials, which they may repeat. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure'
  /** True if a retry cannot succeed. */
  readonly permanent: boolean
  /** Whether the server refused this message or its recipient. It may accept others. */
  readonly ofMessage: boolean

  constructor(reason: string, options: { permanent: boolean; ofMessage: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.permanent = options.permanent
    this.ofMessage = options.ofMessage
  }
}

export type MailTransport = {
  /**
   * Resolves when the server has accepted the message. A retry passes the same message and id.
   *
   * @param signal cuts the connection off
   * @throws MailFailure
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>
}
