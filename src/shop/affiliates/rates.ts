import { and, asc, eq, gt, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { parseInstant } from '../../platform/days.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { getCoupon } from '../catalog/coupons.ts'
import { getCategoryId } from '../catalog/manage/list-products.ts'
import { categories, coupons, products } from '../catalog/schema.ts'
import { productBySlug } from '../catalog/stored-product.ts'
import { shopDay, shopTimeZone, startOfShopDay, untilText } from '../settings/shop-days.ts'
import { setting } from '../settings/settings.ts'
import { emit } from '../webhooks/emit.ts'
import { getAffiliate, getAffiliateById } from './find.ts'
import type { AffiliateRow } from './find.ts'
import { mailAffiliate } from './notify.ts'
import { affiliates, commissionRates } from './schema.ts'

export type RateRow = typeof commissionRates.$inferSelect

/** What a rate is for: one product, category or coupon, or all goods; of one affiliate, or of all. */
export type RateTarget = Pick<RateRow, 'affiliateId' | 'productId' | 'categoryId' | 'couponId'>
type Period = Pick<RateRow, 'startsAt' | 'endsAt'>

const allGoods = { productId: null, categoryId: null, couponId: null } as const
const isForAllGoods = and(
  isNull(commissionRates.productId),
  isNull(commissionRates.categoryId),
  isNull(commissionRates.couponId)
)

const isForGoods = or(
  isNotNull(commissionRates.productId),
  isNotNull(commissionRates.categoryId),
  isNotNull(commissionRates.couponId)
)
const isInForce = and(
  lte(commissionRates.startsAt, sql.placeholder('at')),
  or(isNull(commissionRates.endsAt), gt(commissionRates.endsAt, sql.placeholder('at')))
)
const ofAffiliate = eq(commissionRates.affiliateId, sql.placeholder('affiliateId'))

const ownRate = statement((orm) =>
  orm
    .select()
    .from(commissionRates)
    .where(and(ofAffiliate, isForAllGoods, isInForce))
    .prepare()
)
const goodsRates = statement((orm) =>
  orm
    .select()
    .from(commissionRates)
    .where(and(or(isNull(commissionRates.affiliateId), ofAffiliate), isForGoods, isInForce))
    .orderBy(asc(commissionRates.id))
    .prepare()
)

/** The own rate of an affiliate, for all goods, at a time (epoch ms). */
export function findOwnRate(db: Db, affiliateId: number, at: number): RateRow | undefined {
  return ownRate(db).get({ affiliateId, at })
}

/** The shop's rate in basis points, for affiliates and goods without another one. */
export function rateOfShop(db: Db): number {
  return Math.round(setting(db, 'affiliates.rate') * 100)
}

/** The rate of an affiliate in basis points, for goods without a rate of their own: the affiliate's, else the shop's. */
export function basicRateBps(db: Db, affiliateId: number, at: number): number {
  return findOwnRate(db, affiliateId, at)?.rateBps ?? rateOfShop(db)
}

/** The rates of products, categories and coupons for the orders of an affiliate at a time (epoch ms). */
export function ratesOfGoods(db: Db, affiliateId: number, at: number): RateRow[] {
  return goodsRates(db).all({ affiliateId, at })
}

/** A rate in percent; null stays null. */
export function percentOrNull(rateBps: number | null): number | null {
  return rateBps === null ? null : rateBps / 100
}

/**
 * Gives an affiliate an own rate from a day on, or the shop's rate again (null). The rate until then ends with the day
 * before. Orders that were placed before keep theirs. An active affiliate gets an email.
 *
 * @param from a day in the shop's time zone; now without one
 * @returns whether anything changed
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (`from`) for a day that is over; CONFLICT when another rate is planned
 */
export function setOwnRate(
  db: Db,
  ref: string,
  { rateBps, from }: { rateBps: number | null; from?: string | undefined },
  now: number
): boolean {
  return write(db, (tx) => {
    const affiliate = getAffiliate(tx, ref)
    const startsAt = readStart(tx, from, now)
    return mailingRate(tx, affiliate, startsAt, now, () => giveOwnRate(tx, affiliate, { rateBps, startsAt }, now))
  })
}

/** Makes a change to the own rate of an affiliate, who gets an email when the rate at a time (epoch ms) is then another one. */
function mailingRate<T>(
  tx: Tx,
  { id: affiliateId, status }: AffiliateRow,
  from: number,
  now: number,
  change: () => T
): T {
  const before = basicRateBps(tx, affiliateId, from)
  const changed = change()
  const rateBps = basicRateBps(tx, affiliateId, from)
  if (rateBps !== before && status === 'active')
    mailAffiliate(tx, { template: 'affiliate_rate', data: { affiliateId, rateBps, from } }, now)
  return changed
}

/** As `setOwnRate`. The rate that the affiliate has at `startsAt` changes nothing. */
export function giveOwnRate(
  tx: Tx,
  { id: affiliateId, code }: Pick<AffiliateRow, 'id' | 'code'>,
  { rateBps, startsAt }: { rateBps: number | null; startsAt: number },
  now: number
): boolean {
  const current = findOwnRate(tx, affiliateId, startsAt)
  if ((current?.rateBps ?? null) === rateBps) return false
  const target = { affiliateId, ...allGoods }
  const planned = overlapping(tx, target, { startsAt, endsAt: null }).find(({ id }) => id !== current?.id)
  if (planned !== undefined) throw overlaps(tx, code, planned)
  if (current !== undefined) setEnd(tx, current, startsAt, now)
  if (rateBps !== null) insertRate(tx, { ...target, rateBps, startsAt, endsAt: null }, now)
  return true
}

/** What an operator types for a rate: one of product, category and coupon. */
export type NewRate = {
  affiliate?: string | undefined
  product?: string | undefined
  category?: string | undefined
  coupon?: string | undefined
  /** Basis points; null for goods that earn nothing, whatever other rates say. */
  rateBps: number | null
  from?: string | undefined
  to?: string | undefined
}

/**
 * Gives a product, a category or a coupon a commission rate, for all affiliates or for one, from a day to a day.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED (`from`, `to`); CONFLICT when it has another rate in these days
 */
export function addRate(db: Db, input: NewRate, now: number): RateRow {
  const { rateBps, from, to } = input
  return write(db, (tx) => {
    const target = targetOf(tx, input)
    const startsAt = readStart(tx, from, now)
    const period = { startsAt, endsAt: to === undefined ? null : readEnd(tx, to, startsAt) }
    const [other] = overlapping(tx, target, period)
    if (other !== undefined) throw overlaps(tx, describeTarget(tx, other), other)
    return insertRate(tx, { ...target, ...period, rateBps }, now)
  })
}

/**
 * Ends a rate now. One that is only planned never begins, and the own rate that it would have ended goes on. An active
 * affiliate gets an email about an own rate. An ended rate does not change.
 *
 * @throws AppError NOT_FOUND
 */
export function endRate(db: Db, id: number, now: number): RateRow {
  return write(db, (tx) => {
    const row = tx.orm.select().from(commissionRates).where(eq(commissionRates.id, id)).get()
    if (row === undefined) throw new AppError('NOT_FOUND', `There is no commission rate ${id}.`)
    const endsAt = Math.max(now, row.startsAt)
    if (row.endsAt !== null && row.endsAt <= endsAt) return row
    const end = (): RateRow => {
      const ended = setEnd(tx, row, endsAt, now)
      if (row.startsAt > now) resumeBefore(tx, row, now)
      return ended
    }
    const { affiliateId } = row
    return affiliateId === null ? end() : mailingRate(tx, getAffiliateById(tx, affiliateId), endsAt, now, end)
  })
}

function resumeBefore(tx: Tx, { affiliateId, startsAt, endsAt, ...things }: RateRow, now: number): void {
  if (affiliateId === null || things.productId !== null || things.categoryId !== null || things.couponId !== null)
    return
  const isBefore = and(eq(commissionRates.endsAt, startsAt), lt(commissionRates.startsAt, startsAt))
  const before = tx.orm
    .select()
    .from(commissionRates)
    .where(and(eq(commissionRates.affiliateId, affiliateId), isForAllGoods, isBefore))
    .get()
  if (before !== undefined) setEnd(tx, before, endsAt, now)
}

function targetOf(db: Db, { affiliate, product, category, coupon }: NewRate): RateTarget {
  return {
    affiliateId: affiliate === undefined ? null : getAffiliate(db, affiliate).id,
    productId: product === undefined ? null : productIdOf(db, product),
    categoryId: category === undefined ? null : getCategoryId(db, category),
    couponId: coupon === undefined ? null : getCoupon(db, coupon).id
  }
}

function productIdOf(db: Db, slug: string): number {
  const product = productBySlug(db, slug)
  if (product === undefined) throw new AppError('NOT_FOUND', `No product has the slug ${slug}.`)
  return product.id
}

function readStart(db: Db, day: string | undefined, now: number): number {
  const at = day === undefined ? now : parseInstant(shopTimeZone(db), day, 'start')
  if (at === undefined || at < startOfShopDay(db, shopDay(db, now)))
    throw validationFailed({
      from: ['Must be today or a later day such as 2026-11-27: earlier orders have their rate.']
    })
  return Math.max(at, now)
}

function readEnd(db: Db, day: string, startsAt: number): number {
  const at = parseInstant(shopTimeZone(db), day, 'end')
  if (at === undefined || at <= startsAt)
    throw validationFailed({ to: ['Must be a day such as 2026-11-30 that is not before the first one.'] })
  return at
}

/** The rates of the same target in a period. A rate that never began has none. */
function overlapping(db: Db, target: RateTarget, { startsAt, endsAt }: Period): RateRow[] {
  const { affiliateId, productId, categoryId, couponId } = commissionRates
  const sameTarget = and(
    target.affiliateId === null ? isNull(affiliateId) : eq(affiliateId, target.affiliateId),
    target.productId === null ? isNull(productId) : eq(productId, target.productId),
    target.categoryId === null ? isNull(categoryId) : eq(categoryId, target.categoryId),
    target.couponId === null ? isNull(couponId) : eq(couponId, target.couponId)
  )
  const goesOn = or(
    isNull(commissionRates.endsAt),
    and(gt(commissionRates.endsAt, startsAt), gt(commissionRates.endsAt, commissionRates.startsAt))
  )
  return db.orm
    .select()
    .from(commissionRates)
    .where(and(sameTarget, goesOn, endsAt === null ? undefined : lt(commissionRates.startsAt, endsAt)))
    .orderBy(asc(commissionRates.startsAt))
    .all()
}

function overlaps(db: Db, what: string, { id, rateBps, startsAt, endsAt }: RateRow): AppError {
  const rate = rateBps === null ? 'is excluded' : `has ${rateBps / 100} %`
  const until = endsAt === null ? 'on' : `until ${untilText(db, endsAt)}`
  const message = `${what} ${rate} from ${shopDay(db, startsAt)} ${until} (rate ${id}). End it first, or choose other days.`
  return new AppError('CONFLICT', message, { rateId: id })
}

function insertRate(tx: Tx, values: Omit<RateRow, 'id' | 'createdAt'>, now: number): RateRow {
  const row = tx.orm
    .insert(commissionRates)
    .values({ ...values, createdAt: now })
    .returning()
    .get()
  emit(tx, 'affiliate.rate_changed', toEventData(row), now)
  return row
}

function setEnd(tx: Tx, { id }: Pick<RateRow, 'id'>, endsAt: number | null, now: number): RateRow {
  const row = tx.orm.update(commissionRates).set({ endsAt }).where(eq(commissionRates.id, id)).returning().get()
  emit(tx, 'affiliate.rate_changed', toEventData(row), now)
  return row
}

/** Stores the own rate that an affiliate had in another shop, without an event. */
export function insertImportedRate(tx: Tx, { id, createdAt }: Pick<AffiliateRow, 'id' | 'createdAt'>, rateBps: number) {
  const row = { affiliateId: id, rateBps, startsAt: createdAt, createdAt }
  tx.orm.insert(commissionRates).values(row).run()
}

function toEventData({ id, rateBps, startsAt, endsAt, createdAt: _created, ...target }: RateRow) {
  return { rateId: id, ...target, ratePercent: percentOrNull(rateBps), from: toIso(startsAt), to: toIsoOrNull(endsAt) }
}

/** A rate as operators see it. `rate` is in percent; null for goods that earn nothing. */
export type RateView = {
  id: number
  affiliate: string | null
  product: string | null
  category: string | null
  coupon: string | null
  rate: number | null
  from: string
  to: string | null
  state: 'planned' | 'running' | 'ended'
}

/** The rates, those of one affiliate, and without `ended` only those that are in force or planned. */
export function listRates(
  db: Db,
  { affiliateId, ended = false }: { affiliateId?: number | undefined; ended?: boolean },
  now: number
): RateView[] {
  const goesOn = or(
    isNull(commissionRates.endsAt),
    and(gt(commissionRates.endsAt, now), lt(commissionRates.startsAt, commissionRates.endsAt))
  )
  const rows = db.orm
    .select()
    .from(commissionRates)
    .where(
      and(
        affiliateId === undefined ? undefined : eq(commissionRates.affiliateId, affiliateId),
        ended ? undefined : goesOn
      )
    )
    .orderBy(asc(commissionRates.startsAt), asc(commissionRates.id))
    .all()
  return rows.map((row) => toRate(db, row, now))
}

/** A rate with the names of what it is for. */
export function toRate(db: Db, row: RateRow, now: number): RateView {
  const { id, rateBps, startsAt, endsAt } = row
  const isOver = endsAt !== null && endsAt <= Math.max(now, startsAt)
  return {
    id,
    ...namesOf(db, row),
    rate: percentOrNull(rateBps),
    from: toIso(startsAt),
    to: toIsoOrNull(endsAt),
    state: isOver ? 'ended' : startsAt > now ? 'planned' : 'running'
  }
}

function namesOf(db: Db, { affiliateId, productId, categoryId, couponId }: RateTarget) {
  const { orm } = db
  const of = <T>(id: number | null, find: (id: number) => { name: T } | undefined): T | null =>
    id === null ? null : (find(id)?.name ?? null)
  return {
    affiliate: of(affiliateId, (id) =>
      orm.select({ name: affiliates.code }).from(affiliates).where(eq(affiliates.id, id)).get()
    ),
    product: of(productId, (id) => orm.select({ name: products.slug }).from(products).where(eq(products.id, id)).get()),
    category: of(categoryId, (id) =>
      orm.select({ name: categories.slug }).from(categories).where(eq(categories.id, id)).get()
    ),
    coupon: of(couponId, (id) => orm.select({ name: coupons.code }).from(coupons).where(eq(coupons.id, id)).get())
  }
}

/** What the rate with an id is for, in words: `category light of mira`. */
export function describeRate(db: Db, id: number): string {
  const row = db.orm.select().from(commissionRates).where(eq(commissionRates.id, id)).get()
  return row === undefined ? '' : describeTarget(db, row)
}

function describeTarget(db: Db, target: RateTarget): string {
  const names = namesOf(db, target)
  const { affiliate } = names
  const goods = goodsOfRate(names)
  if (goods === null) return affiliate ?? ''
  return affiliate === null ? goods : `${goods} of ${affiliate}`
}

/** The goods that a rate is for, in words: `category light`; null for all goods. */
export function goodsOfRate({ product, category, coupon }: Pick<RateView, 'product' | 'category' | 'coupon'>) {
  if (product !== null) return `product ${product}`
  if (category !== null) return `category ${category}`
  return coupon === null ? null : `coupon ${coupon}`
}
