import { AppError, validationFailed } from '../../errors.ts'
import { write, writeWhenFree } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { compareKey, codePoints, slugify } from '../../platform/text.ts'
import { emit } from '../webhooks/emit.ts'
import { findCoupon } from '../catalog/coupons.ts'
import { findCouponAffiliate, giveCoupon } from './coupons.ts'
import { findAffiliateByCode, findAffiliateOfUser, getAffiliate } from './find.ts'
import type { AffiliateRow, AffiliateStatus } from './find.ts'
import { takeOverErased, wasCodeOfErased } from './former.ts'
import { affiliates } from './schema.ts'
import { basicRateBps, giveOwnRate } from './rates.ts'
import { changeAffiliate } from './decide.ts'
import { setPartnerOptIn } from '../accounts/create-user.ts'
import type { UserRow } from '../accounts/rows.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'
import { assertModuleOn } from './gate.ts'
import type { ApplyInput } from './input.ts'
import { findUserByEmail } from '../accounts/find.ts'
import type { AffiliateInput } from '../catalog/import/format.ts'

const decisionEvents: Readonly<Record<AffiliateStatus, 'affiliate.approved' | 'affiliate.rejected' | null>> = {
  pending: null,
  active: 'affiliate.approved',
  inactive: null,
  rejected: 'affiliate.rejected'
}

export type NewAffiliate = {
  userId: number
  code: string
  status: AffiliateStatus
  /** Null for the shop's rate. */
  rateBps: number | null
  website?: string | null
  message?: string | null
}

/**
 * Creates an affiliate account and emits `affiliate.applied`, and `affiliate.approved` or `affiliate.rejected` if it
 * starts in that state. Applications, the command line and seeds use this function.
 *
 * @throws AppError AFFILIATE_EXISTS when the user has an affiliate account, CONFLICT when another affiliate has or had the code,
 *   VALIDATION_FAILED on `code`
 */
export function createAffiliate(db: Db, input: NewAffiliate, now: number): AffiliateRow {
  const code = parseCode(input.code)
  return write(db, (tx) => {
    if (findAffiliateOfUser(tx, input.userId) !== undefined) {
      throw new AppError('AFFILIATE_EXISTS', 'This user already has an affiliate account.')
    }
    if (isTaken(tx, code)) throw new AppError('CONFLICT', 'Another affiliate has or had this code.')
    const affiliate = insertAffiliate(tx, { ...input, code }, now)
    const { id: affiliateId, status } = affiliate
    emit(tx, 'affiliate.applied', { affiliateId }, now)
    giveOwnRate(tx, affiliate, { rateBps: input.rateBps, startsAt: now }, now)
    const decided = decisionEvents[status]
    if (decided !== null) emit(tx, decided, { affiliateId }, now)
    if (status === 'active') takeOverErased(tx, affiliate, now)
    return affiliate
  })
}

function insertAffiliate(tx: Tx, input: NewAffiliate, now: number): AffiliateRow {
  const { userId, code, status, website = null, message = null } = input
  const codeKey = compareKey(code)
  return tx.orm
    .insert(affiliates)
    .values({ userId, code, codeKey, status, website, message, createdAt: now, updatedAt: now })
    .returning()
    .get()
}

/**
 * Normalizes an affiliate code to NFC and trims it. A code has 1 to 100 characters, no spaces or control characters, and
 * not only digits, because digits mean an affiliate's id.
 *
 * @throws AppError VALIDATION_FAILED on `code`
 */
export function parseCode(text: string): string {
  const code = text.normalize('NFC').trim()
  if (!isCode(code)) {
    throw validationFailed({ code: ['Must have 1 to 100 characters, no spaces, and not only digits.'] })
  }
  return code
}

function isCode(code: string): boolean {
  return code !== '' && codePoints(code) <= 100 && !/[\s\p{C}]/u.test(code) && !/^\d+$/.test(code)
}

/** An unused code for a user: the username in ASCII letters, with a number when another affiliate has or had that code. */
export function freeCode(db: Db, username: string): string {
  const plain = slugify(username).slice(0, 60)
  const base = plain === '' ? 'partner' : /^\d+$/.test(plain) ? `partner-${plain}` : plain
  for (let number = 1; ; number += 1) {
    const code = number === 1 ? base : `${base}-${number}`
    if (!isTaken(db, code)) return code
  }
}

/** Whether a code can be given to a new affiliate: it is valid, and no other one has or had it. */
export function isFreeCode(db: Db, code: string): boolean {
  return isCode(code) && !isTaken(db, code)
}

function isTaken(db: Db, code: string): boolean {
  return findAffiliateByCode(db, code) !== undefined || wasCodeOfErased(db, code)
}

/**
 * Creates a pending affiliate account for a user; an operator decides about it. The answer to the partner opt-in (no if
 * it was not sent) is stored with its time and in the biography.
 *
 * @throws AppError RATE_LIMITED (account_change), AFFILIATE_NOT_FOUND while the module is off, AFFILIATE_EXISTS when the user has an account in any state
 */
export async function applyAsAffiliate(
  shop: Limits,
  user: UserRow,
  input: ApplyInput,
  now: number
): Promise<AffiliateRow> {
  await countAccountChange(shop, user.id)
  return writeWhenFree(shop.db, (tx) => {
    assertModuleOn(tx)
    const code = freeCode(tx, user.username)
    const { website = null, message = null } = input
    const application = { userId: user.id, code, status: 'pending' as const, rateBps: null, website, message }
    const affiliate = createAffiliate(tx, application, now)
    setPartnerOptIn(tx, user.id, input.marketingOptIn ?? false, now)
    return affiliate
  })
}

export type Counts = { created: number; updated: number; unchanged: number }

/**
 * Creates and updates the affiliates of an import file, matched by code. Other affiliates stay, and the same file again
 * changes nothing. The status `pending` in the file does not undo an operator's decision, and an affiliate without a rate in
 * the file keeps the one they have. The coupons of the file belong to the affiliate from then on. No emails are sent.
 *
 * @throws AppError VALIDATION_FAILED on `affiliates.N.user` when the account does not exist or the code belongs to
 *   another account, on `affiliates.N.coupons.N` for a coupon that does not exist or belongs to another affiliate, and as
 *   `createAffiliate`
 */
export function applyAffiliates(tx: Tx, entries: readonly AffiliateInput[], now: number): Counts {
  const counts: Counts = { created: 0, updated: 0, unchanged: 0 }
  for (const [index, entry] of entries.entries()) {
    const outcome = applyOne(tx, entry, `affiliates.${index}.user`, now)
    const isGiven = giveCoupons(tx, entry, `affiliates.${index}.coupons`, now)
    counts[outcome === 'unchanged' && isGiven ? 'updated' : outcome] += 1
  }
  return counts
}

function applyOne(tx: Tx, entry: AffiliateInput, path: string, now: number): keyof Counts {
  const { code, status, rateBps } = entry
  const user = findUserByEmail(tx, entry.user)
  if (user === undefined) throw validationFailed({ [path]: ['No account has this email.'] })
  const known = findAffiliateByCode(tx, code)
  if (known === undefined) {
    createAffiliate(tx, { userId: user.id, code, status, rateBps: rateBps ?? null }, now)
    return 'created'
  }
  if (known.userId !== user.id) throw validationFailed({ [path]: ['The affiliate code belongs to another account.'] })
  const isRateNew = rateBps !== undefined && giveOwnRate(tx, known, { rateBps, startsAt: now }, now)
  const outcome = update(tx, known, wantedOf(known, entry), now)
  return isRateNew ? 'updated' : outcome
}

function giveCoupons(tx: Tx, { code, coupons }: AffiliateInput, path: string, now: number): boolean {
  const affiliate = getAffiliate(tx, code)
  const given = coupons.map((couponCode, index) => {
    const refuse = (why: string): Error => validationFailed({ [`${path}.${index}`]: [why] })
    const coupon = findCoupon(tx, couponCode)
    if (coupon === undefined) throw refuse('No coupon has this code.')
    const owner = findCouponAffiliate(tx, coupon.id)
    if (owner !== undefined && owner.id !== affiliate.id) throw refuse('The coupon belongs to another affiliate.')
    return giveCoupon(tx, coupon, affiliate, now)
  })
  return given.some(Boolean)
}

type Wanted = Pick<AffiliateRow, 'code' | 'status'>

function wantedOf(known: AffiliateRow, { code, status }: AffiliateInput): Wanted {
  return { code, status: status === 'pending' ? known.status : status }
}

/** What an import file would change to the shop's cost, for the operator to confirm: a higher rate, an affiliate active again. */
export function costlyChanges(db: Db, entries: readonly AffiliateInput[], now: number): string[] {
  return entries.flatMap((entry) => {
    const known = findAffiliateByCode(db, entry.code)
    if (known === undefined) return []
    const wanted = wantedOf(known, entry)
    const before = basicRateBps(db, known.id, now)
    const after = entry.rateBps ?? before
    return [
      ...(after > before ? [`${known.code} gets ${after / 100} % instead of ${before / 100} %`] : []),
      ...(wanted.status === 'active' && known.status !== 'active' ? [`${known.code} becomes active`] : [])
    ]
  })
}

function update(tx: Tx, known: AffiliateRow, wanted: Wanted, now: number): keyof Counts {
  const { code, status } = known
  if (code === wanted.code && status === wanted.status) return 'unchanged'
  changeAffiliate(tx, known, wanted, now)
  if (status !== 'active' && wanted.status === 'active') takeOverErased(tx, known, now)
  return 'updated'
}
