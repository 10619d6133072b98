import type { MailData, MailTemplate } from '../mail/queue.ts'
import { z } from 'zod'
import { affiliateDecisions, referralDecisions, removedFields } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import {
  affiliateBonusEmail,
  affiliateDecisionEmail,
  affiliatePayoutEmail,
  affiliateRateEmail,
  affiliateReferralsEmail
} from './affiliate-emails.ts'
import {
  confirmEmailEmail,
  dormantEmail,
  emailChangedEmail,
  mailboxCodeEmail,
  passwordChangedEmail,
  passwordResetEmail,
  verificationEmail
} from './account-emails.ts'
import { declarationEmail } from './declaration-email.ts'
import type { Email } from './email.ts'
import { ObsoleteEmailError } from './email.ts'
import { claimOrderEmail, receiptEmail, refundEmail, refundFailedEmail } from './order-emails.ts'
import { changeDroppedEmail, orderChangedEmail, returnExpectedEmail } from './change-email.ts'
import { giftCardEmail, giftCardLanguage } from './gift-card-email.ts'
import { orderShippedEmail } from './shipment-email.ts'
import { deskInvitationEmail, newOrderEmail, paymentWarningEmail } from './shop-emails.ts'
import {
  endSubscriptionEmail,
  renewalFailedEmail,
  subscriptionCancelledEmail,
  subscriptionEndedEmail
} from './subscription-emails.ts'
import {
  orderReceivedEmail,
  paymentFailedEmail,
  paymentLinkEmail,
  paymentReminderEmail
} from './unconfirmed-order-emails.ts'
import { isKeyOf, isObject } from '../../platform/typed.ts'
import type { Db } from '../../platform/db/database.ts'
import { findUserById } from '../accounts/find.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import { findDeclaration } from '../declarations/find.ts'
import { findOrder } from '../orders/find.ts'
import { inLanguage } from '../settings/language.ts'

type Composer = (shop: ShopContext, data: unknown, now: number, recipient: string) => Email

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
  end_subscription: composer<'end_subscription'>(byOrder, endSubscriptionEmail),
  mailbox_code: composer<'mailbox_code'>(z.object({ language: z.string().exactOptional() }), mailboxCodeEmail),
  order_shipped: composer<'order_shipped'>(
    z.object({ orderId: id, shipmentId: id, isPart: z.boolean() }),
    orderShippedEmail
  ),
  payment_failed: composer<'payment_failed'>(z.object({ orderId: id, moveId: id }), paymentFailedEmail),
  order_changed: composer<'order_changed'>(z.object({ orderId: id, changeId: id }), orderChangedEmail),
  change_dropped: composer<'change_dropped'>(z.object({ orderId: id, additionId: id }), changeDroppedEmail),
  return_expected: composer<'return_expected'>(z.object({ orderId: id, returnId: id }), returnExpectedEmail),
  order_refunded: composer<'order_refunded'>(byAmount.extend({ toCard: z.boolean().exactOptional() }), refundEmail),
  refund_failed: composer<'refund_failed'>(byAmount, refundFailedEmail),
  payment_link: composer<'payment_link'>(byOrder, paymentLinkEmail),
  payment_reminder: composer<'payment_reminder'>(z.object({ orderId: id, endsAt: z.int() }), paymentReminderEmail),
  renewal_failed: composer<'renewal_failed'>(renewalFailure, renewalFailedEmail),
  subscription_cancelled: composer<'subscription_cancelled'>(byOrder, subscriptionCancelledEmail),
  subscription_ended: composer<'subscription_ended'>(byOrder, subscriptionEndedEmail),
  declaration_received: composer<'declaration_received'>(z.object({ declarationId: id }), declarationEmail),
  gift_card: composer<'gift_card'>(z.object({ giftCardId: id }), giftCardEmail),
  affiliate_decision: composer<'affiliate_decision'>(
    z.object({ affiliateId: id, decision: z.enum(affiliateDecisions) }),
    affiliateDecisionEmail
  ),
  affiliate_rate: composer<'affiliate_rate'>(
    z.object({ affiliateId: id, rateBps: z.int(), from: z.int() }),
    affiliateRateEmail
  ),
  affiliate_referrals: composer<'affiliate_referrals'>(
    z.object({
      affiliateId: id,
      referralIds: z.array(id),
      decision: z.enum(referralDecisions),
      reason: z.string().nullable()
    }),
    affiliateReferralsEmail
  ),
  affiliate_bonus: composer<'affiliate_bonus'>(
    z.object({ affiliateId: id, amountMinor: z.int(), currency: z.string(), reason: z.string() }),
    affiliateBonusEmail
  ),
  affiliate_payout: composer<'affiliate_payout'>(
    z.object({ affiliateId: id, payoutId: id, step: z.enum(['paid', 'failed']) }),
    affiliatePayoutEmail
  ),
  desk_invitation: composer<'desk_invitation'>(z.object({ invitationId: id }), deskInvitationEmail),
  shop_new_order: composer<'shop_new_order'>(byOrder, newOrderEmail),
  shop_payment_warning: composer<'shop_payment_warning'>(z.object({ warningId: id }), paymentWarningEmail)
}

/** Every template of an email. */
export const emailTemplates: readonly string[] = Object.keys(composers)

function composer<T extends MailTemplate>(
  schema: z.ZodType<MailData[T]>,
  write: (shop: ShopContext, data: MailData[T], now: number, recipient: string) => Email
): Composer {
  return (shop, data, now, recipient) => write(shop, schema.parse(data), now, recipient)
}

/**
 * The shop in the language of an email's reader: that of the order or the account that it is about. The shop's own
 * emails are in English, as the command line is.
 */
export function forReader(shop: ShopContext, template: string, data: unknown): ShopContext {
  if (template.startsWith('shop_')) return inLanguage(shop, 'en')
  return inLanguage(shop, readerLanguage(shop.db, isObject(data) ? data : {}))
}

function readerLanguage(db: Db, data: Record<string, unknown>): string | null {
  const { orderId, userId, affiliateId, declarationId, giftCardId, language } = data
  if (typeof language === 'string') return language
  if (typeof declarationId === 'number') return findDeclaration(db, declarationId)?.language ?? null
  if (typeof giftCardId === 'number') return giftCardLanguage(db, giftCardId)
  if (typeof orderId === 'number') return findOrder(db, orderId)?.language ?? null
  const affiliate = typeof affiliateId === 'number' ? findAffiliateById(db, affiliateId) : undefined
  const id = typeof userId === 'number' ? userId : affiliate?.userId
  return id === undefined ? null : (findUserById(db, id)?.language ?? null)
}

/**
 * Writes the email for a queued row, in the language of its reader. A link in it is derived from its token's row, which must still be valid.
 *
 * @throws ObsoleteEmailError when the email is obsolete: a used or expired link, an erased account
 */
export function composeEmail(
  shop: ShopContext,
  mail: { template: string; data: unknown; recipient: string },
  now: number
): Email {
  if (!isKeyOf(composers, mail.template)) throw new ObsoleteEmailError('its template does not exist')
  return composers[mail.template](forReader(shop, mail.template, mail.data), mail.data, now, mail.recipient)
}
