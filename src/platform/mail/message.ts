/** One message, ready to go. Sent again after a crash it is the same to the byte, its id included. */
export type MailMessage = {
  id: number
  /** Epoch milliseconds at which it was queued. */
  createdAt: number
  to: string
  subject: string
  text: string
  html: string
  /** Addresses with a token in them, for whoever reads the files instead of a mailbox. */
  links: { verify?: string; reset?: string }
}

/** Why a message did not go, without the addresses and credentials that a server's answer may repeat. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure'
  /** No later try can help. */
  readonly permanent: boolean

  constructor(reason: string, options: { permanent: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.permanent = options.permanent
  }
}

export type MailTransport = {
  /** Resolves once the message has been accepted; a repeat is the same message under the same id. @throws MailFailure */
  send(message: MailMessage): Promise<void>
}
