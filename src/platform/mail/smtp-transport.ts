import type { Transporter } from 'nodemailer'
import { isLoopback } from '../http/cross-site.ts'
import { MailFailure } from './message.ts'
import type { MailMessage, MailTransport } from './message.ts'

const connectMs = 10_000
/** The longest time without data from the server. */
const silenceMs = 20_000

type Options = { url: string; from: string }

/**
 * Sends by SMTP with one connection per message. Every attempt has the same Message-ID, so that a mailbox can detect a
 * duplicate: a crash after the server accepts a message, but before we record it, leads to a second copy. SMTP cannot
 * prevent that.
 */
export function openSmtp({ url, from }: Options): MailTransport {
  let opened: Promise<Transporter> | undefined
  return {
    async send(message) {
      try {
        const transporter = await (opened ??= connect(url))
        await transporter.sendMail({
          from,
          to: message.to,
          subject: message.subject,
          text: message.text,
          html: message.html,
          messageId: messageId(message, from),
          date: new Date(message.createdAt),
          headers: { 'Auto-Submitted': 'auto-generated' },
          // A message must not make the server read a file or fetch a URL.
          disableFileAccess: true,
          disableUrlAccess: true
        })
      } catch (error) {
        throw toFailure(error)
      }
    }
  }
}

/** Connects and logs in without sending a message. @throws MailFailure */
export async function verifySmtp(url: string): Promise<void> {
  const transporter = await connect(url)
  try {
    await transporter.verify()
  } catch (error) {
    throw toFailure(error)
  } finally {
    transporter.close()
  }
}

/** The first message loads nodemailer, so that the start of the shop does not wait for it. */
async function connect(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    requireTLS: needsTls(url)
  })
}

/**
 * Whether TLS is required. The network must not see the links in the messages or the credentials, unless the URL has
 * `?requireTLS=false` or the mail server is on this machine.
 */
function needsTls(text: string): boolean {
  const url = new URL(text)
  return url.protocol === 'smtp:' && !isLoopback(url) && url.searchParams.get('requireTLS') !== 'false'
}

/** RFC 5322 3.6.4: a Message-ID is globally unique. It contains the time, because ids repeat after a restore. */
function messageId({ id, createdAt }: MailMessage, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<shopstead.${createdAt}.${id}@${domain}>`
}

type SmtpError = { code?: unknown; command?: unknown; responseCode?: unknown; cause?: unknown }

function toFailure(error: unknown): MailFailure {
  const { code, command, responseCode }: SmtpError = typeof error === 'object' && error !== null ? error : {}
  const words = [code, command, responseCode].filter((part) => typeof part === 'string' || typeof part === 'number')
  const reason = words.length > 0 ? words.join(' ') : 'unknown error'
  // The server rejected the recipient or the message permanently. A failed login is not permanent: the operator can fix it.
  const refused = typeof responseCode === 'number' && responseCode >= 550 && responseCode < 560
  const ofMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  return new MailFailure(reason, { permanent: refused && ofMessage, ofMessage, cause: error })
}
