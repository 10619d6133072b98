/** Every event with its data (docs/contract.md 9.1): ids, states and amounts, and no addresses of persons. */
export type ShopEvents = {
  'account.registered': { userId: number }
  'account.verified': { userId: number }
  'account.deactivated': { userId: number }
  'order.created': { orderId: number; totalMinor: number; currency: string }
  'order.paid': { orderId: number; totalMinor: number; currency: string }
  'order.status_changed': { orderId: number; from: string; to: string }
  'order.refunded': { orderId: number; amountMinor: number; currency: string; full: boolean }
  'order.refund_failed': { orderId: number; amountMinor: number; currency: string }
  'order.shipped': {
    orderId: number
    shipmentId: number
    carrier: string | null
    tracking: string | null
    complete: boolean
  }
  'order.disputed': { orderId: number; disputeId: string; status: string }
  'referral.created': ReferralFacts
  'referral.accepted': ReferralFacts
  'referral.rejected': ReferralFacts & { reason: string }
  'referral.paid': ReferralFacts & { payoutId: number }
  'affiliate.applied': { affiliateId: number }
  'affiliate.approved': { affiliateId: number }
  'affiliate.rejected': { affiliateId: number }
  'affiliate.terms_accepted': { affiliateId: number; version: string }
  'membership.started': { membershipId: number; userId: number; plan: string }
  'membership.ended': { membershipId: number; userId: number; plan: string }
  'subscription.started': { subscriptionId: number; userId: number }
  'subscription.renewed': { subscriptionId: number; userId: number; currentPeriodEnd: string }
  'subscription.ended': { subscriptionId: number; userId: number }
  'donation.received': { donationId: number; orderId: number | null; amountMinor: number; currency: string }
}
type ReferralFacts = { referralId: number; affiliateId: number; orderId: number; amountMinor: number; currency: string }
export type ShopEventType = keyof ShopEvents

/** A description of each event type, for an operator who chooses the types of a webhook. */
export const eventTypes: Readonly<Record<ShopEventType, string>> = {
  'account.registered': 'an account was created',
  'account.verified': 'the email address of an account was verified',
  'account.deactivated': 'an account was deactivated',
  'order.created': 'an order was placed and is not paid yet',
  'order.paid': 'an order was paid',
  'order.status_changed': 'the status of an order changed',
  'order.refunded': 'an order was refunded, in full or in part',
  'order.refund_failed': 'a refund did not reach the buyer: the money is back with the shop',
  'order.shipped': 'goods of an order were handed to a carrier',
  'order.disputed': 'a buyer disputed a payment with their bank',
  'referral.created': 'an order was attributed to an affiliate',
  'referral.accepted': 'a referral was accepted: its commission is owed',
  'referral.rejected': 'a referral was rejected: its commission is not owed',
  'referral.paid': 'the commission of a referral was paid out',
  'affiliate.applied': 'a user applied to become an affiliate',
  'affiliate.approved': 'an affiliate application was approved',
  'affiliate.rejected': 'an affiliate application was rejected',
  'affiliate.terms_accepted': 'an affiliate accepted the terms',
  'membership.started': 'a membership started',
  'membership.ended': 'a membership ended',
  'subscription.started': 'a subscription started',
  'subscription.renewed': 'a subscription was paid for another period',
  'subscription.ended': 'a subscription ended',
  'donation.received': 'a donation was received'
}

/** Checks an event type that an operator typed. */
export function isEventType(text: string): text is ShopEventType {
  return Object.hasOwn(eventTypes, text)
}
