import { AppError } from '../../errors.ts'
import { mailFolder } from '../../platform/mail/file-transport.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import { createMailTransport } from '../../platform/mail/transport.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { openEmailTemplates, renderBuiltIn } from './render.ts'

/**
 * Sends an email to an address at once, without the queue, to try the configuration.
 *
 * @returns the server that took it, or the folder of the file if no server is configured
 * @throws AppError DEPENDENCY_UNAVAILABLE with the reason when it cannot be sent
 */
export async function sendTestEmail(
  shop: ShopContext,
  to: string,
  now: number
): Promise<{ by: 'smtp' | 'file'; at: string }> {
  const { config, log } = shop
  const folder = mailFolder(config.dataDir)
  const transport = createMailTransport({ smtpUrl: config.smtpUrl, from: config.mailFrom, folder, log })
  const name = setting(shop.db, 'shop.name')
  const email = {
    subject: `A test email of ${name}`,
    opening: [`This is a test email of ${name}. Emails of the shop arrive at this address.`],
    closing: [],
    links: {}
  }
  try {
    await transport.send({ id: 0, createdAt: now, to, ...renderBuiltIn(shop, openEmailTemplates(), email), links: {} })
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    throw new AppError('DEPENDENCY_UNAVAILABLE', `The email was not sent: ${error.message}.`, {}, { cause: error })
  }
  return config.smtpUrl === null ? { by: 'file', at: folder } : { by: 'smtp', at: new URL(config.smtpUrl).host }
}
