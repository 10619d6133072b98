import { assetPath } from '../../platform/package-root.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import type { MailMessage, MailTransport } from '../../platform/mail/message.ts'
import { openTemplates } from '../../platform/templates.ts'
import type { Templates } from '../../platform/templates.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { composeEmail } from './compose.ts'
import { ObsoleteEmailError } from './email.ts'
import { claimNext, forgetMail, markSent, noteFailure } from '../mail/queue.ts'
import type { MailRow } from '../mail/queue.ts'

/**
 * Sends every message that is due, one after the other, none inside a transaction. Each try is written down before it is
 * made, so that neither a crash nor a second process leads to more tries than planned; the row counts as sent once the
 * transport has accepted the message.
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
  const named = { mail: mail.id, template: mail.template }
  try {
    await transport.send(writeMessage(shop, templates, mail))
    await markSent(shop.db, mail.id, shop.clock.now())
  } catch (error) {
    if (error instanceof ObsoleteEmailError) {
      await forgetMail(shop.db, mail.id)
      shop.log.info('a message was not sent', { ...named, reason: error.message })
      return
    }
    const reason = error instanceof MailFailure ? error.message : 'it could not be written'
    const final = await noteFailure(shop.db, mail, reason, error instanceof MailFailure && error.permanent)
    const cause = error instanceof MailFailure ? undefined : String(error)
    shop.log.warn(final ? 'a message was given up' : 'a message will be sent later', { ...named, reason, cause })
  }
}

/** The same row makes the same message at every try. */
function writeMessage(shop: ShopContext, templates: Templates, mail: MailRow): MailMessage {
  const email = composeEmail(shop, mail, shop.clock.now())
  const view = {
    ...email,
    shopName: setting(shop.db, 'shop.name'),
    table: email.table ?? null,
    action: email.action ?? null
  }
  return {
    id: mail.id,
    createdAt: mail.createdAt,
    to: mail.recipient,
    subject: email.subject,
    text: templates.text('email.text.eta', view),
    html: templates.html('email.html.eta', view),
    links: email.links
  }
}
