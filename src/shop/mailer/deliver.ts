import { assetPath } from '../../platform/package-root.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import type { MailMessage, MailTransport } from '../../platform/mail/message.ts'
import { openTemplates } from '../../platform/templates.ts'
import type { Templates } from '../../platform/templates.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { composeEmail } from './compose.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { claimNext, deleteMail, markSent, recordFailure } from '../mail/queue.ts'
import type { MailRow } from '../mail/queue.ts'

/**
 * Sends every email that is due, one after the other and outside transactions. Each attempt is recorded before it
 * starts, so a crash or a second process cannot cause more attempts than planned. A row counts as sent once the
 * transport has accepted the email.
 *
 * @param isStopped checked before each email; true ends the run
 */
export async function deliverDueMail(
  shop: ShopContext,
  transport: MailTransport,
  isStopped: () => boolean = () => false
): Promise<void> {
  let templates: Templates | undefined
  while (!isStopped()) {
    const mail = await claimNext(shop.db, shop.clock.now())
    if (mail === undefined) return
    templates ??= openTemplates(assetPath('shop', 'mailer', 'templates'))
    await deliver(shop, transport, templates, mail)
  }
}

async function deliver(
  shop: ShopContext,
  transport: MailTransport,
  templates: Templates,
  mail: MailRow
): Promise<void> {
  const context = { mail: mail.id, template: mail.template }
  try {
    await transport.send(writeMessage(shop, templates, mail))
    await markSent(shop.db, mail.id, shop.clock.now())
  } catch (error) {
    if (error instanceof ObsoleteEmailError) {
      await deleteMail(shop.db, mail.id)
      shop.log.info('email not sent: it is obsolete', { ...context, reason: error.message })
      return
    }
    const reason = error instanceof MailFailure ? error.message : 'the email could not be composed'
    const final = await recordFailure(shop.db, mail, reason, error instanceof MailFailure && error.permanent)
    const cause = error instanceof MailFailure ? undefined : String(error)
    shop.log.warn(final ? 'email failed permanently' : 'email failed, will retry', { ...context, reason, cause })
  }
}

/** The same row gives a message with the same id at every attempt. */
function writeMessage(shop: ShopContext, templates: Templates, mail: MailRow): MailMessage {
  const email = composeEmail(shop, mail, shop.clock.now())
  return { id: mail.id, createdAt: mail.createdAt, to: mail.recipient, ...renderEmail(shop, templates, email) }
}

/** The texts of an email with the templates of the shop. */
export function renderEmail(
  shop: ShopContext,
  templates: Templates,
  email: Email
): Pick<MailMessage, 'subject' | 'text' | 'html' | 'links'> {
  const { facts = [], table = null, action = null, also = null, blocks = [] } = email
  const view = {
    ...email,
    facts,
    table,
    action,
    also,
    blocks,
    shopName: setting(shop.db, 'shop.name'),
    legal: setting(shop.db, 'shop.legal')
  }
  return {
    subject: email.subject,
    text: templates.text('email.text.eta', view),
    html: templates.html('email.html.eta', view),
    links: email.links
  }
}
