import type { ShopEventType } from '../events/events.ts'

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
