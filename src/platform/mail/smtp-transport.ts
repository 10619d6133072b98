import type { Transporter } from 'nodemailer'
import { MailFailure } from './message.ts'
import type { MailMessage, MailTransport } from './message.ts'

const connectMs = 10_000
/** Longest silence of the server. */
const silenceMs = 20_000

type Options = { url: string; from: string }

/**
 * Sends by SMTP, a connection for each message. Its Message-ID is the same at every try, so that a mailbox or a person can
 * tell a repeat: between the server's acceptance and our note of it there is a moment in which a crash leads to a second
 * copy, and SMTP has no way to close it.
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
          // Nothing in a message may make the server read its own disk or fetch an address.
          disableFileAccess: true,
          disableUrlAccess: true
        })
      } catch (error) {
        throw toFailure(error)
      }
    }
  }
}

/** Connects and logs in, as a message would, and sends nothing. @throws MailFailure */
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

/** nodemailer is loaded with the first message: a shop that starts does not wait for it. */
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

/** Credentials cross a network only encrypted, unless the URL says `?requireTLS=false` itself. */
function needsTls(url: string): boolean {
  const { protocol, username, hostname, searchParams } = new URL(url)
  const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'smtp:' && username !== '' && !loopback && searchParams.get('requireTLS') !== 'false'
}

/** RFC 5322 3.6.4: unique for ever, so the time is in it: ids come again after a restore. */
function messageId({ id, createdAt }: MailMessage, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<shopstead.${createdAt}.${id}@${domain}>`
}

type SmtpError = { code?: unknown; command?: unknown; responseCode?: unknown; cause?: unknown }

function toFailure(error: unknown): MailFailure {
  const { code, command, responseCode }: SmtpError = typeof error === 'object' && error !== null ? error : {}
  const words = [code, command, responseCode].filter((part) => typeof part === 'string' || typeof part === 'number')
  const reason = words.length > 0 ? words.join(' ') : 'unknown error'
  // The recipient or the message was refused for good; a login that fails is the operator's to mend.
  const refused = typeof responseCode === 'number' && responseCode >= 550 && responseCode < 560
  return new MailFailure(reason, { permanent: refused && (code === 'EENVELOPE' || code === 'EMESSAGE'), cause: error })
}
