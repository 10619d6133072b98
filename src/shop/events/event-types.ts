/** Every event with its data (docs/contract.md 9.1): ids, states and amounts, and no addresses of persons. */
export type ShopEvents = {
  'account.registered': { userId: number }
  'account.verified': { userId: number }
  'account.deactivated': { userId: number }
  'order.created': { orderId: number; totalMinor: number; currency: string }
  'order.paid': { orderId: number; totalMinor: number; currency: string }
  'order.status_changed': { orderId: number; from: string; to: string }
  'order.refunded': { orderId: number; amountMinor: number; currency: string; full: boolean }
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

/** What each event tells, for whoever chooses among them. */
export const eventTypes: Readonly<Record<ShopEventType, string>> = {
  'account.registered': 'somebody has made an account',
  'account.verified': 'an email address has been confirmed',
  'account.deactivated': 'an account has been closed',
  'order.created': 'an order has been placed, not yet paid',
  'order.paid': 'an order has been paid',
  'order.status_changed': 'an order has moved from one state to another',
  'order.refunded': 'money has been given back',
  'order.disputed': 'a buyer disputes a payment with the bank',
  'referral.created': 'an affiliate has brought an order',
  'referral.accepted': 'a commission is owed',
  'referral.rejected': 'a commission is not owed (any more)',
  'referral.paid': 'a commission has been paid out',
  'affiliate.applied': 'somebody wants to be an affiliate',
  'affiliate.approved': 'an affiliate has been approved',
  'affiliate.rejected': 'an application has been turned down',
  'affiliate.terms_accepted': 'an affiliate has accepted the terms',
  'membership.started': 'a membership has begun',
  'membership.ended': 'a membership has ended',
  'subscription.started': 'a subscription has begun',
  'subscription.renewed': 'a subscription has been paid for another period',
  'subscription.ended': 'a subscription has ended',
  'donation.received': 'a donation has been made'
}

export function isEventType(text: string): text is ShopEventType {
  return Object.hasOwn(eventTypes, text)
}
