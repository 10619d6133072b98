import { join } from 'node:path'
import { describeError } from '../../platform/log.ts'
import type { MailTransport } from '../../platform/mail/message.ts'
import { createMailTransport } from '../../platform/mail/transport.ts'
import type { ShopContext } from '../context.ts'
import { deliverDueMail } from './deliver.ts'

/** A file has to be there within 2 s of the answer, and the row may have been queued by another process. */
const pollMs = 500

export type Mailer = {
  /** Looks for messages now rather than at the next round. */
  kick(): void
  /** Ends with the message that is being sent. */
  stop(): Promise<void>
}

/** Sends what is queued, one message at a time, until it is stopped. A failure of the round itself is logged and tried again. */
export function startMailer(shop: ShopContext, transport: MailTransport = configuredTransport(shop)): Mailer {
  let running: Promise<void> | undefined
  let stopped = false
  const round = (): void => {
    if (stopped) return
    running ??= deliverDueMail(shop, transport, () => stopped)
      .catch((error: unknown) => shop.log.error('messages could not be sent', { error: describeError(error) }))
      .finally(() => void (running = undefined))
  }
  const timer = setInterval(round, pollMs)
  setImmediate(round)
  return {
    kick: round,
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
    folder: join(config.dataDir, 'mail'),
    log
  })
}
