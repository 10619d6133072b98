import { Socket } from 'node:net'
import type { Transporter } from 'nodemailer'
import { z } from 'zod'
import { isLoopback } from '../http/cross-site.ts'
import { isObject } from '../typed.ts'
import { MailFailure } from './message.ts'
import type { MailMessage, MailTransport } from './message.ts'

const connectMs = 10_000
/** The longest time without data from the server. */
const silenceMs = 20_000
/** The longest time for a whole message. A server that answers a line every few seconds is never silent. */
const messageMs = 60_000

type Options = { url: string; from: string }

/**
 * Sends by SMTP with one connection per message. Every attempt has the same Message-ID, so that a mailbox can detect a
 * duplicate: a crash after the server accepts a message, but before we record it, leads to a second copy. SMTP cannot
 * prevent that.
 */
export function openSmtp({ url, from }: Options): MailTransport {
  return {
    send: (message, signal) =>
      withServer(url, signal, async (server) => {
        await server.sendMail({
          from,
          to: message.to,
          subject: message.subject,
          text: message.text,
          html: message.html,
          attachments: (message.attachments ?? []).map(({ name, type, content }) => ({
            filename: name,
            contentType: type,
            content: Buffer.from(content)
          })),
          messageId: messageId(message, from),
          date: new Date(message.createdAt),
          headers: { 'Auto-Submitted': 'auto-generated' },
          // A message must not make the server read a file or fetch a URL.
          disableFileAccess: true,
          disableUrlAccess: true
        })
      })
  }
}

/** Connects and logs in without sending a message. @throws MailFailure */
export async function verifySmtp(url: string): Promise<void> {
  await withServer(url, undefined, async (server) => void (await server.verify()))
}

/**
 * Does some work over one connection, which ends after 60 s at the latest, whatever the server does.
 *
 * @throws MailFailure
 */
async function withServer(
  text: string,
  signal: AbortSignal | undefined,
  work: (server: Transporter) => Promise<void>
): Promise<void> {
  // The first message loads nodemailer, so that the start of the shop does not wait for it.
  const { createTransport } = await import('nodemailer')
  const url = new URL(text)
  const socket = new Socket()
  const limit = AbortSignal.timeout(messageMs)
  const cut = AbortSignal.any([limit, ...(signal === undefined ? [] : [signal])])
  const cutOff = (): void => void socket.destroy(new Error('cut off'))
  cut.addEventListener('abort', cutOff)
  const server = createTransport({
    url: text,
    socket,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    requireTLS: needsTls(url),
    // The certificate of a mail server on this machine, such as Debian's, is often its own. Nothing in between can read along.
    ...(isLoopback(url) ? { tls: { rejectUnauthorized: false } } : {})
  })
  try {
    cut.throwIfAborted()
    await work(server)
  } catch (error) {
    if (limit.aborted)
      throw new MailFailure(`ETIMEDOUT after ${messageMs / 1000} s`, { permanent: false, ofMessage: true })
    if (cut.aborted) throw new MailFailure('cut off', { permanent: false, ofMessage: true })
    throw toFailure(error, url)
  } finally {
    cut.removeEventListener('abort', cutOff)
    server.close()
    // A server that does not close its side must not keep the process alive.
    socket.unref()
  }
}

/**
 * Whether TLS is required. The network must not see the links in the messages or the credentials, unless the URL has
 * `?requireTLS=false` or the mail server is on this machine.
 */
function needsTls(url: URL): boolean {
  return url.protocol === 'smtp:' && !isLoopback(url) && url.searchParams.get('requireTLS') !== 'false'
}

/** RFC 5322 3.6.4: a Message-ID is globally unique. It contains the time, because ids repeat after a restore. */
function messageId({ id, createdAt }: MailMessage, from: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?$/.exec(from)?.[1] ?? 'localhost'
  return `<shopstead.${createdAt}.${id}@${domain}>`
}

function toFailure(error: unknown, url: URL): MailFailure {
  const { code, command, responseCode, response, message } = smtpError.parse(isObject(error) ? error : {})
  const certificate = code === 'ETLS' || code === 'ESOCKET' ? certificateProblem(message) : undefined
  const reason = [certificate === undefined ? code : 'ECERTIFICATE', command, responseCode].filter(
    (part) => part !== undefined
  )
  const words = certificate ?? withoutSecrets(response ?? '', url)
  // The server rejected the recipient or the message permanently. A failed login is not permanent: the operator can fix it.
  const refused = responseCode !== undefined && responseCode >= 550 && responseCode < 560
  const ofMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  return new MailFailure(`${reason.join(' ') || 'unknown error'}${words === '' ? '' : `: ${words}`}`, {
    permanent: refused && ofMessage,
    ofMessage,
    cause: error
  })
}

const smtpError = z.object({
  code: z.string().optional().catch(undefined),
  command: z.string().optional().catch(undefined),
  responseCode: z.number().optional().catch(undefined),
  response: z.string().optional().catch(undefined),
  message: z.string().catch('')
})

/** What is wrong with a certificate, as Node says it: self-signed, expired, for another name. */
function certificateProblem(message: string): string | undefined {
  return /certificate|altnames/i.test(message) ? message.replace(/^.*Error initiating TLS - /, '') : undefined
}

/** The first line of a server's answer, behind its code, without the credentials of the URL and without addresses. */
function withoutSecrets(response: string, { username, password }: URL): string {
  const [user, secret] = [decoded(username), decoded(password)]
  const forms = [user, secret, `\0${user}\0${secret}`].flatMap((text) => [text, Buffer.from(text).toString('base64')])
  const [line = ''] = response.replace(/^\d{3}[ -]/, '').split(/\r?\n/)
  const hidden = forms.filter((form) => form !== '').reduce((text, form) => text.replaceAll(form, '…'), line)
  const words = hidden
    .slice(0, 200)
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .split(' ')
  return words.map((word) => (word.includes('@') ? '…' : word)).join(' ')
}

/** Percent-encoding decoded; what is not valid stays. */
function decoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('+', '%2B').replaceAll('&', '%26')}`).get('text') ?? ''
}
