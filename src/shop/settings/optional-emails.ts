/**
 * The emails to buyers and affiliates that `emails.off` can switch off, by template. Emails that a login or a password
 * depends on are not among them.
 */
export const optionalEmails = [
  'order_received',
  'order_receipt',
  'order_shipped',
  'payment_failed',
  'order_changed',
  'change_dropped',
  'return_expected',
  'order_refunded',
  'refund_failed',
  'payment_reminder',
  'renewal_failed',
  'subscription_cancelled',
  'subscription_ended',
  'affiliate_decision',
  'affiliate_rate',
  'affiliate_referrals',
  'affiliate_bonus',
  'affiliate_payout'
] as const
