import type { MailData, MailTemplate } from '../mail/queue.ts'
import { z } from 'zod'
import { removedFields } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import {
  affiliateDecisionEmail,
  confirmEmailEmail,
  dormantEmail,
  emailChangedEmail,
  passwordChangedEmail,
  passwordResetEmail,
  verificationEmail
} from './account-emails.ts'
import type { Email } from './email.ts'
import { ObsoleteEmailError } from './email.ts'
import { claimOrderEmail, receiptEmail, refundEmail, refundFailedEmail } from './order-emails.ts'
import { orderShippedEmail } from './shipment-email.ts'
import { newOrderEmail, paymentWarningEmail } from './shop-emails.ts'
import { renewalFailedEmail, subscriptionCancelledEmail, subscriptionEndedEmail } from './subscription-emails.ts'
import {
  orderReceivedEmail,
  paymentFailedEmail,
  paymentLinkEmail,
  paymentReminderEmail
} from './unconfirmed-order-emails.ts'
import { isKeyOf } from '../../platform/typed.ts'

type Composer = (shop: ShopContext, data: unknown, now: number) => Email

const id = z.int().positive()
const byToken = z.object({ userId: id, tokenId: id })

const byOrder = z.object({ orderId: id })
const byAmount = z.object({ orderId: id, amountMinor: z.int() })

const renewalFailure = z.object({
  orderId: id,
  amountMinor: z.int(),
  currency: z.string(),
  payUrl: z.string().nullable(),
  nextTryAt: z.int().nullable()
})

const composers: Readonly<Record<MailTemplate, Composer>> = {
  verify_email: composer<'verify_email'>(byToken, verificationEmail),
  reset_password: composer<'reset_password'>(byToken, passwordResetEmail),
  confirm_email: composer<'confirm_email'>(byToken, confirmEmailEmail),
  email_changed: composer<'email_changed'>(
    z.object({ userId: id, step: z.enum(['requested', 'done']), tokenId: id.exactOptional() }),
    emailChangedEmail
  ),
  password_changed: composer<'password_changed'>(
    z.object({ userId: id, removed: z.array(z.enum(removedFields)).exactOptional() }),
    passwordChangedEmail
  ),
  account_dormant: composer<'account_dormant'>(z.object({ userId: id }), dormantEmail),
  order_received: composer<'order_received'>(
    z.object({ orderId: id, waitsFor: z.enum(['transfer', 'bank', 'shop']) }),
    orderReceivedEmail
  ),
  order_receipt: composer<'order_receipt'>(byOrder, receiptEmail),
  claim_order: composer<'claim_order'>(byOrder, claimOrderEmail),
  order_shipped: composer<'order_shipped'>(
    z.object({ orderId: id, shipmentId: id, isPart: z.boolean() }),
    orderShippedEmail
  ),
  payment_failed: composer<'payment_failed'>(z.object({ orderId: id, moveId: id }), paymentFailedEmail),
  order_refunded: composer<'order_refunded'>(byAmount, refundEmail),
  refund_failed: composer<'refund_failed'>(byAmount, refundFailedEmail),
  payment_link: composer<'payment_link'>(byOrder, paymentLinkEmail),
  payment_reminder: composer<'payment_reminder'>(z.object({ orderId: id, endsAt: z.int() }), paymentReminderEmail),
  renewal_failed: composer<'renewal_failed'>(renewalFailure, renewalFailedEmail),
  subscription_cancelled: composer<'subscription_cancelled'>(byOrder, subscriptionCancelledEmail),
  subscription_ended: composer<'subscription_ended'>(byOrder, subscriptionEndedEmail),
  affiliate_decision: composer<'affiliate_decision'>(
    z.object({ affiliateId: id, approved: z.boolean() }),
    affiliateDecisionEmail
  ),
  shop_new_order: composer<'shop_new_order'>(byOrder, newOrderEmail),
  shop_payment_warning: composer<'shop_payment_warning'>(z.object({ warningId: id }), paymentWarningEmail)
}

/** Every template of an email. */
export const emailTemplates: readonly string[] = Object.keys(composers)

function composer<T extends MailTemplate>(
  schema: z.ZodType<MailData[T]>,
  write: (shop: ShopContext, data: MailData[T], now: number) => Email
): Composer {
  return (shop, data, now) => write(shop, schema.parse(data), now)
}

/**
 * Writes the email for a queued row. A link in it is derived from its token's row, which must still be valid.
 *
 * @throws ObsoleteEmailError when the email is obsolete: a used or expired link, an erased account
 */
export function composeEmail(shop: ShopContext, mail: { template: string; data: unknown }, now: number): Email {
  if (!isKeyOf(composers, mail.template)) throw new ObsoleteEmailError('its template does not exist')
  return composers[mail.template](shop, mail.data, now)
}
