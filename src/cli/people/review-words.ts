import type { ReviewReason } from '../../shop/referrals/states.ts'

/** Why an operator decides about a referral. */
export const reviewWords: Readonly<Record<ReviewReason, string>> = {
  plus_address: 'the buyer uses a plus address of the affiliate',
  former_mailbox: 'the buyer uses a former email of the affiliate',
  same_person: "two of the buyer's name, street and phone are the affiliate's",
  same_card: 'the affiliate has paid with the same card',
  no_email: 'the order has no email',
  unverified_affiliate: 'the affiliate has not verified their email'
}
