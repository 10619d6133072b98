import { describeError } from '../../platform/log.ts'
import { mailFolder } from '../../platform/mail/file-transport.ts'
import type { MailTransport } from '../../platform/mail/message.ts'
import { createMailTransport } from '../../platform/mail/transport.ts'
import type { ShopContext } from '../context.ts'
import { deliverDueMail } from './deliver.ts'

/** Without SMTP an email's file must exist 2 s after the response (docs/contract.md A8). Another process may have queued the row. */
const pollMs = 500

export type Mailer = {
  /** Looks for queued emails now instead of at the next poll. */
  kick(): void
  /** Stops after the email that is being sent. */
  stop(): Promise<void>
}

/**
 * Sends queued emails, one at a time, until it is stopped. It polls every 500 ms. An error that ends a run is logged,
 * and the next poll starts a new run.
 */
export function startMailer(shop: ShopContext, transport: MailTransport = configuredTransport(shop)): Mailer {
  let running: Promise<void> | undefined
  let stopped = false
  const poll = (): void => {
    if (stopped) return
    running ??= deliverDueMail(shop, transport, () => stopped)
      .catch((error: unknown) => shop.log.error('emails could not be sent', { error: describeError(error) }))
      .finally(() => void (running = undefined))
  }
  const timer = setInterval(poll, pollMs)
  setImmediate(poll)
  return {
    kick: poll,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
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
