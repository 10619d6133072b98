import { setTimeout as pause } from 'node:timers/promises'
import { describeError } from '../../platform/log.ts'
import { mailFolder } from '../../platform/mail/file-transport.ts'
import { documentFile } from '../invoices/e-invoice-file.ts'
import { obstacleOf } from '../invoices/e-invoice.ts'
import type { MailTransport, MailMessage } from '../../platform/mail/message.ts'
import { createMailTransport } from '../../platform/mail/transport.ts'
import type { ShopContext } from '../context.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import type { Templates } from '../../platform/templates.ts'
import { composeEmail, forReader } from './compose.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { emailKey, withoutPlusTag } from '../../platform/text.ts'
import { emailCounterKey, tryTakePoint } from '../limits/points.ts'
import { openEmailTemplates, orderValues, renderEmail } from './render.ts'
import { claimNext, deleteMail, markSent, recordFailure, returnMail } from '../mail/queue.ts'
import type { MailRow } from '../mail/queue.ts'

/** Without SMTP an email's file must exist 2 s after the response (docs/contract.md A8). Another process may have queued the row. */
const pollMs = 500
/** As many emails are sent at once, so that one that the server is slow to take does not delay the others. */
const atOnce = 5
/** The others wait this long for the first one, because a server that is down refuses it within that time. */
const firstAloneMs = 2_000
/** When the shop stops, emails that are being sent have this long before they are cut off. */
const graceMs = 5_000

export type Mailer = {
  /** Stops when the emails that are being sent have arrived, or after 5 s. The next start sends what was cut off. */
  stop(): Promise<void>
}

/**
 * Sends queued emails until it is stopped. It polls every 500 ms. An error that ends a run is logged,
 * and the next poll starts a new run.
 */
export function startMailer(shop: ShopContext, transport: MailTransport = configuredTransport(shop)): Mailer {
  const rounds = new Set<Promise<void>>()
  let stopped = false
  const cut = new AbortController()
  const sendDue = openSending(shop, transport, { isStopped: () => stopped, cut: cut.signal })
  const poll = (): void => {
    if (stopped) return
    const round = sendDue()
      .catch((error: unknown) => shop.log.error('emails could not be sent', { error: describeError(error) }))
      .finally(() => rounds.delete(round))
    rounds.add(round)
  }
  const timer = setInterval(poll, pollMs)
  setImmediate(poll)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      const grace = setTimeout(() => cut.abort(), graceMs)
      await Promise.all(rounds)
      clearTimeout(grace)
    }
  }
}

function configuredTransport({ config, log }: ShopContext): MailTransport {
  return createMailTransport({
    smtpUrl: config.smtpUrl,
    from: config.mailFrom,
    folder: mailFolder(config.dataDir),
    log
  })
}

type Sending = { isStopped?: () => boolean; cut?: AbortSignal }

/**
 * Sends every email that is due, five at once and outside transactions.
 *
 * @param options.isStopped checked before each email; true ends the run
 * @param options.cut cuts off the emails that are being sent
 */
export async function deliverDueMail(
  shop: ShopContext,
  transport: MailTransport,
  options: Sending = {}
): Promise<void> {
  await openSending(shop, transport, options)()
}

/**
 * Returns what sends the emails that are due. It may be called while earlier calls still send: all of them together send
 * five emails at once, so a server that lets one wait delays neither the others nor those that are queued later. Each
 * attempt is recorded before it starts, so a crash or a second process cannot cause more attempts than planned. A row
 * counts as sent once the transport has accepted the email. A round ends when the mail server cannot be used, so that the
 * emails that wait for it cost one attempt for each poll. A server that refuses one message gets the others.
 */
function openSending(
  shop: ShopContext,
  transport: MailTransport,
  { isStopped = () => false, cut }: Sending
): () => Promise<void> {
  let templates: Templates | undefined
  let senders = 0
  let isFirstAlone = false
  return async () => {
    if (isFirstAlone || senders >= atOnce) return
    let ended = false
    /** Returns whether there may be more to send. */
    const sendNext = async (): Promise<boolean> => {
      const mail = ended || isStopped() ? undefined : await claimNext(shop.db, shop.clock.now())
      if (mail === undefined) return false
      templates ??= openEmailTemplates()
      if ((await deliver(shop, transport, templates, mail, cut)) === 'server failed') ended = true
      return !ended
    }
    const sendAll = async (first = sendNext()): Promise<void> => {
      senders += 1
      try {
        let isMore = await first
        while (isMore) isMore = await sendNext()
      } finally {
        senders -= 1
      }
    }
    isFirstAlone = true
    const first = sendNext()
    const own = sendAll(first)
    const alone = new AbortController()
    const waited = pause(firstAloneMs, true, { signal: alone.signal }).catch(() => false)
    const isMore = await Promise.race([first, waited]).catch(() => false)
    alone.abort()
    isFirstAlone = false
    const others = isMore ? Math.max(0, atOnce - senders) : 0
    await Promise.all([own, ...Array.from({ length: others }, () => sendAll())])
  }
}

async function deliver(
  shop: ShopContext,
  transport: MailTransport,
  templates: Templates,
  mail: MailRow,
  cut: AbortSignal | undefined
): Promise<'done' | 'server failed'> {
  const context = { mail: mail.id, template: mail.template }
  try {
    const email = composeEmail(shop, mail, shop.clock.now())
    if (!(await mayReach(shop, mail, email))) throw new ObsoleteEmailError('too many emails to its recipient')
    const attachments = await attachmentsOf(email)
    await transport.send({ ...writeMessage(shop, templates, mail, email), ...attachments }, cut)
    await markSent(shop.db, mail.id, shop.clock.now())
    return 'done'
  } catch (error) {
    if (error instanceof ObsoleteEmailError) {
      await deleteMail(shop.db, mail.id)
      shop.log.info('email not sent: it is obsolete', { ...context, reason: error.message })
      return 'done'
    }
    if (cut?.aborted === true) {
      await returnMail(shop.db, mail, shop.clock.now())
      shop.log.info('email not sent: the shop stops', context)
      return 'server failed'
    }
    const reason = error instanceof MailFailure ? error.message : 'the email could not be composed'
    const final = await recordFailure(shop.db, mail, reason, error instanceof MailFailure && error.permanent)
    const cause = error instanceof MailFailure ? undefined : String(error)
    shop.log.warn(final ? 'email failed permanently' : 'email failed, will retry', { ...context, reason, cause })
    return error instanceof MailFailure && !error.ofMessage ? 'server failed' : 'done'
  }
}

/** Takes a point of the recipient's limit at the first attempt. */
async function mayReach(shop: ShopContext, { recipient, attempts }: MailRow, { budget }: Email): Promise<boolean> {
  if (budget === undefined || attempts > 1) return true
  const counter = { bucket: 'recipient_email', key: emailCounterKey(withoutPlusTag(emailKey(recipient))) } as const
  return (await tryTakePoint(shop, counter)) || budget === 'counted'
}

/** The electronic invoice of a business: XRechnung if the buyer gave a reference for it, else Factur-X. */
async function attachmentsOf({ document }: Email): Promise<Pick<MailMessage, 'attachments'>> {
  if (document === undefined) return {}
  const { row, url } = document
  const wanted = row.buyer?.reference === undefined ? (['facturx'] as const) : (['xrechnung', 'facturx'] as const)
  const format = wanted.find((each) => obstacleOf(row, each) === undefined)
  return format === undefined ? {} : { attachments: [await documentFile(row, format, { pageUrl: url })] }
}

/** The same row gives a message with the same id at every attempt. */
function writeMessage(own: ShopContext, templates: Templates, mail: MailRow, email: Email): MailMessage {
  const shop = forReader(own, mail.template, mail.data)
  const { template, recipient: to, id, createdAt } = mail
  const rendered = renderEmail(shop, templates, { template, email, values: orderValues(shop, mail.data) })
  for (const { name, problem } of rendered.problems)
    shop.log.warn('a template of the operator is not used', { file: name, reason: problem })
  const { subject, text, html } = rendered
  return { id, createdAt, to, subject, text, html, links: email.links }
}
