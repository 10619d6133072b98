import { and, eq, inArray, isNotNull, lte, ne, or } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { compareKey, emailKey } from '../../platform/text.ts'
import { findUserByEmail, findUserById } from '../accounts/find.ts'
import { otherEmailsOf } from '../accounts/messages.ts'
import type { UserRow } from '../accounts/rows.ts'
import { isPlusAddressOf, isSelfReferral } from '../affiliates/credit.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { rejectReferral, reviewReferral } from '../referrals/referrals.ts'
import { findReferralOfOrder } from '../referrals/store.ts'
import type { ReviewReason } from '../referrals/states.ts'
import { setting } from '../settings/settings.ts'
import { findAttribution } from './find.ts'
import type { OrderRow } from './find.ts'
import { orders } from './schema.ts'

/**
 * Checks who the buyer of a referred order is: rejects the referral of an affiliate's own order, and that of a known
 * customer where only new ones count, and keeps one with signs of an own order for an operator, who accepts or rejects it.
 */
export function checkReferral(tx: Tx, order: OrderRow, now: number): void {
  const parties = partiesOf(tx, order)
  if (parties === null) return
  if (isOwnOrder(parties, order)) rejectReferral(tx, order.id, 'self', now)
  else if (needsNewCustomer(tx, order) && isKnownCustomer(tx, order))
    rejectReferral(tx, order.id, 'known_customer', now)
  else reviewReferral(tx, order.id, reviewReasons(tx, parties.owner, order), now)
}

/** Renewals and additions follow their first order. What was accepted stays, whoever claims the order later. */
function needsNewCustomer(db: Db, { id, renewalOf, addedTo }: OrderRow): boolean {
  if (renewalOf !== null || addedTo !== null) return false
  const referral = findReferralOfOrder(db, id)
  return referral?.status === 'pending' && referral.newCustomersOnly
}

/** Whether the buyer has paid an order before this one, with the account or the email. */
function isKnownCustomer(db: Db, { id, userId, email, paidAt }: OrderRow): boolean {
  const accounts = [
    userId === null ? undefined : findUserById(db, userId),
    email === null ? undefined : findUserByEmail(db, email)
  ].filter((account) => account !== undefined)
  const keys = [...(email === null ? [] : [emailKey(email)]), ...accounts.map((account) => account.emailKey)]
  const isTheirs = or(
    inArray(
      orders.userId,
      accounts.map((account) => account.id)
    ),
    inArray(orders.emailKey, keys)
  )
  const isPaid = paidAt === null ? isNotNull(orders.paidAt) : lte(orders.paidAt, paidAt)
  const earlier = db.orm
    .select({ id: orders.id })
    .from(orders)
    .where(and(isTheirs, isPaid, ne(orders.id, id)))
    .limit(1)
    .get()
  return earlier !== undefined
}

/** Whether the buyer of a referred order is the affiliate, with the emails that both have now. */
export function isBuyerTheAffiliate(db: Db, order: OrderRow): boolean {
  const parties = partiesOf(db, order)
  return parties !== null && isOwnOrder(parties, order)
}

function partiesOf(db: Db, { id }: OrderRow) {
  const affiliateId = findAttribution(db, id)?.affiliateId ?? null
  if (affiliateId === null) return null
  const affiliate = getAffiliateById(db, affiliateId)
  const owner = findUserById(db, affiliate.userId)
  return owner === undefined ? null : { affiliate, owner }
}

function isOwnOrder(
  { affiliate, owner }: NonNullable<ReturnType<typeof partiesOf>>,
  { userId, email }: OrderRow
): boolean {
  return isSelfReferral(affiliate, owner, { userId, emails: [email] })
}

function reviewReasons(db: Db, owner: UserRow, order: OrderRow): ReviewReason[] {
  const { email, userId, paidAt } = order
  const signs: Readonly<Record<ReviewReason, boolean>> = {
    plus_address: isPlusAddressOf(owner, [email]),
    former_mailbox: email !== null && otherEmailsOf(db, owner.id).earlier.map(emailKey).includes(emailKey(email)),
    same_person: isSamePerson(owner, order),
    same_card: hasPaidWith(db, owner, order),
    // The page of the gateway asks for the email of an order that is not paid yet.
    no_email: email === null && userId === null && paidAt !== null,
    unverified_affiliate: owner.emailVerifiedAt === null && setting(db, 'registration.emailVerification')
  }
  return (Object.keys(signs) as ReviewReason[]).filter((reason) => signs[reason])
}

/** Whether two of name, street and phone are the affiliate's: one alone is often a namesake or a neighbour. */
function isSamePerson(owner: UserRow, order: OrderRow): boolean {
  const { contact, shippingAddress, billingAddress } = order
  const own = {
    name: [owner.displayName, `${owner.firstName ?? ''} ${owner.lastName ?? ''}`],
    street: [streetOf(owner.address)],
    phone: [owner.billingPhone]
  }
  const buyer = {
    name: [`${contact.firstName ?? ''} ${contact.lastName ?? ''}`],
    street: [streetOf(shippingAddress), streetOf(billingAddress)],
    phone: [contact.phone, shippingAddress?.phone, billingAddress?.phone]
  }
  const equal = (['name', 'street', 'phone'] as const).filter((part) => {
    const known = new Set(own[part].map(lettersOf).filter((text) => text !== ''))
    return buyer[part].map(lettersOf).some((text) => known.has(text))
  })
  return equal.length >= 2
}

/** Whether the affiliate paid an order of the account, or one as a guest, with the card of this order. */
function hasPaidWith(db: Db, { id, emailKey: ownKey }: UserRow, order: OrderRow): boolean {
  if (order.cardFingerprint === null) return false
  const own = or(eq(orders.userId, id), eq(orders.emailKey, ownKey))
  const card = eq(orders.cardFingerprint, order.cardFingerprint)
  const found = db.orm.select({ id: orders.id }).from(orders).where(and(own, card)).limit(1).get()
  return found !== undefined
}

function streetOf(address: UserRow['address']): string {
  const { address1 = '', postcode = '' } = address ?? {}
  return address1 === '' ? '' : `${address1} ${postcode}`
}

/** The letters and digits of a text, so that spelling does not hide a match. */
function lettersOf(text: string | null | undefined): string {
  return compareKey(text ?? '').replaceAll(/[^\p{L}\p{N}]/gu, '')
}
