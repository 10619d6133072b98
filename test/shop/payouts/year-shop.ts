import { deepEqual, equal, throws } from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { createBackup } from '../../../src/operations/backup/create.ts'
import { restoreBackup } from '../../../src/operations/backup/restore.ts'
import { seededRandom } from '../../../src/operations/seeding/random.ts'
import type { Random } from '../../../src/operations/seeding/random.ts'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import type { Db, Tx } from '../../../src/platform/db/database.ts'
import { setHashKey } from '../../../src/platform/db/keyed-hash.ts'
import { users } from '../../../src/shop/accounts/schema.ts'
import { createAffiliate, freeCode } from '../../../src/shop/affiliates/create.ts'
import { decideAffiliate } from '../../../src/shop/affiliates/decide.ts'
import { getAffiliateById } from '../../../src/shop/affiliates/find.ts'
import { addRate, setOwnRate } from '../../../src/shop/affiliates/rates.ts'
import { erasePerson } from '../../../src/shop/customers/erase-person.ts'
import { confirmEmail } from '../../../src/shop/customers/verify-email.ts'
import type { NewOrder } from '../../../src/shop/orders/create-order.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { planRefundLines, storeOrderRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import type { WantedRefund } from '../../../src/shop/orders/refunds/refund-lines.ts'
import { recordRefund, reverseRefund } from '../../../src/shop/orders/transition.ts'
import { insertRenewal } from '../../../src/shop/orders/renewal-order.ts'
import { netGoodsMinor } from '../../../src/shop/orders/totals.ts'
import { moveOrder } from '../../../src/shop/orders/transition.ts'
import { createAttempt, getAttempt } from '../../../src/shop/payments/attempts.ts'
import { applyDispute } from '../../../src/shop/payments/disputes.ts'
import { applyRefunds } from '../../../src/shop/payments/gateway-refunds.ts'
import { applyGatewayState } from '../../../src/shop/payments/settle.ts'
import { dismissWarning, openWarnings } from '../../../src/shop/payments/warnings.ts'
import type { UnitOfWork } from '../../../src/shop/payments/warnings.ts'
import { creditMissedOrder, giveBonus } from '../../../src/shop/payouts/by-hand.ts'
import { decideReferrals } from '../../../src/shop/payouts/decide-referral.ts'
import { failPayout } from '../../../src/shop/payouts/fail.ts'
import { entriesOfPayout } from '../../../src/shop/payouts/find.ts'
import { adoptLostPayouts } from '../../../src/shop/payouts/lost.ts'
import { payPayouts } from '../../../src/shop/payouts/pay.ts'
import { findReferralOfOrder } from '../../../src/shop/referrals/store.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { credited, draft, line, makeProduct, makeUser, place } from '../orders/support.ts'
import { stateOf } from '../payments/books.ts'
import { buyers, cardOf, homeOf, personOf } from './year-buyers.ts'
import { Ledger } from './year-ledger.ts'
import type { KnownOrder } from './year-order.ts'

export const firstDay = Date.UTC(2026, 0, 1, 12)
const people = 10
const hashKey = createSecretKey(Buffer.alloc(32))
const cause = { by: 'operator', reason: 'a test' }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
/** Random choices that are the same for the same seed, so that a year that fails can be run again. */
class Dice {
  readonly #random: Random
  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }
  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number {
    return from - 1 + this.#random.upTo(to - from + 1)
  }
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.between(0, from.length - 1)]
  }
}

/** A shop with ten affiliates, and the ledger that follows what happens to it. Each method is an event; false if it cannot happen now. */
export class YearShop {
  readonly dice: Dice
  readonly folder: string
  readonly file: string
  db: Db
  now = firstDay
  ledger = new Ledger()
  #products = 0
  readonly backups: { file: string; ledger: Ledger }[] = []

  constructor(seed: number, folder: string) {
    this.dice = new Dice(seed)
    this.folder = folder
    this.file = join(folder, 'shopstead.db')
    mkdirSync(folder, { recursive: true })
    createMigratedDatabase(this.file)
    this.db = this.#open()
    for (let person = 1; person <= people; person += 1) this.#join(person)
    setSetting(this.db, 'affiliates.renewals', 'true', firstDay)
  }

  #open(): Db {
    const db = openDatabase(this.file)
    // Nothing crashes here, and each event would wait for the disk.
    db.sqlite.pragma('synchronous = OFF')
    setHashKey(db, hashKey)
    return db
  }

  #unit(tx: Tx): UnitOfWork {
    return { tx, log: silent, by: 'webhook', now: this.now }
  }

  /** Registers a person, who is approved as an affiliate, and has bought with a card of their own. */
  #join(person: number): void {
    const email = `person${person}@shop.example`
    const isVerified = this.dice.between(1, 4) > 1
    const { id: userId } = makeUser(this.db, email, isVerified)
    const profile = { billingPhone: `+49 40 555 01${person}`, address: homeOf(person) }
    this.db.orm.update(users).set(profile).where(eq(users.id, userId)).run()
    const code = freeCode(this.db, `person${person}`)
    const { id } = createAffiliate(this.db, { userId, code, status: 'pending', rateBps: null }, this.now)
    decideAffiliate(this.db, code, 'approve', this.now)
    this.ledger.join({ id, person, userId, isVerified, createdAt: this.now })
    const order = place(this.db, draft([line(makeProduct(this.db))], { userId, email }), this.now)
    this.#settle(order.id, { card: cardOf(person) })
  }

  /** The gateway says that an order is paid. */
  #settle(orderId: number, changes: Parameters<typeof stateOf>[1] = {}): void {
    const { id } = write(this.db, (tx) => {
      const attempt = { gateway: 'sandbox', kind: 'payment_intent', livemode: false } as const
      return createAttempt(tx, getOrder(tx, orderId), attempt, this.now)
    })
    const known = this.ledger.orders.get(orderId)
    if (known !== undefined) known.attemptId = id
    write(this.db, (tx) => applyGatewayState(this.#unit(tx), id, stateOf(getAttempt(tx, id), changes)))
  }

  /** A product, some with a commission rate of their own. The first of an order is never excluded. */
  #makeProduct(index: number): { productId: number; rateBps: bigint | null } {
    const slug = `product-${(this.#products += 1)}`
    const productId = makeProduct(this.db, { slug })
    if (this.dice.between(0, 2) > 0) return { productId, rateBps: null }
    const isExcluded = index > 0 && this.dice.between(0, 2) === 0
    const rateBps = isExcluded ? null : this.dice.between(0, 5_000)
    addRate(this.db, { product: slug, rateBps }, this.now)
    return { productId, rateBps: BigInt(rateBps ?? 0) }
  }

  buy(isCredited = true): void | false {
    const affiliate = this.dice.pick(this.ledger.active())
    if (affiliate === undefined) return false
    const buyer = isCredited ? (this.dice.pick(buyers) ?? 'honest') : 'honest'
    const lines = Array.from({ length: this.dice.between(1, 3) }, (_, index) => {
      const [unitPriceMinor, quantity] = [this.dice.between(1, 20_000), this.dice.between(1, 4)]
      const product = this.#makeProduct(index)
      return {
        ...product,
        unitPriceMinor,
        quantity,
        discountMinor: this.dice.pick([0, 0, Math.floor(unitPriceMinor / 3)]) ?? 0
      }
    })
    const shippingMinor = this.dice.pick([0, 0, 490, 999]) ?? 0
    const method = { id: 'parcel', name: 'Parcel', estimate: null, pickup: false }
    const changes: Partial<NewOrder> = {
      email: `buyer${this.dice.between(1, 1_000_000)}@shop.example`,
      ...personOf(buyer, affiliate.person),
      ...(isCredited ? { attribution: credited(getAffiliateById(this.db, affiliate.id)) } : {}),
      ...(shippingMinor === 0 ? {} : { shipping: { method, amountMinor: shippingMinor, renewalMinor: null } })
    }
    const order = place(
      this.db,
      draft(
        lines.map(({ productId, rateBps: _rate, ...each }) => line(productId, each)),
        changes
      ),
      this.now
    )
    this.ledger.place({
      id: order.id,
      createdAt: this.now,
      affiliateId: isCredited ? affiliate.id : null,
      person: affiliate.person,
      buyer,
      lines: lines.map((each) => ({ quantity: each.quantity, rateBps: each.rateBps, ...pricesOf(each) })),
      shippingMinor: BigInt(shippingMinor),
      byLines: this.dice.between(0, 1) === 1
    })
    equal(BigInt(netGoodsMinor(order)), this.ledger.order(order.id).goodsMinor)
  }

  /** An order whose link was lost; an operator credits it, before or after it is paid. */
  creditMissed(): void | false {
    if (this.buy(false) === false) return false
    const order = [...this.ledger.orders.values()].at(-1)
    const affiliate = this.dice.pick(this.ledger.active())
    if (order === undefined || affiliate === undefined) return false
    if (this.dice.between(0, 1) === 1) this.#payOrder(order)
    creditMissedOrder(this.db, order.id, { ref: String(affiliate.id), reason: 'lost' }, this.now)
    this.ledger.credit(order.id, affiliate.id, this.now)
  }

  pay(): void | false {
    const order = this.dice.pick(this.ledger.in('pending'))
    return order === undefined ? false : this.#payOrder(order)
  }

  #payOrder(order: KnownOrder): void {
    const own = `person${order.person}@shop.example`
    this.#settle(order.id, {
      ...(order.buyer === 'own email' ? { email: own } : {}),
      ...(order.buyer === 'same card' ? { card: cardOf(order.person) } : {})
    })
    this.ledger.pay(order.id, this.now)
  }

  /** A payment fails, or the order is cancelled; some are paid after all. */
  fail(): void | false {
    const order = this.dice.pick(this.ledger.in('pending'))
    if (order === undefined) return false
    write(this.db, (tx) => moveOrder(tx, order.id, 'failed', cause, this.now))
    this.ledger.fail(order.id)
    if (this.dice.between(0, 1) === 0) return
    write(this.db, (tx) => moveOrder(tx, order.id, 'pending', cause, this.now))
    this.ledger.reopen(order.id)
  }

  /** A paid order is cancelled. */
  cancel(): void | false {
    const order = this.dice.pick(this.ledger.in('paid').filter(({ isRenewal }) => !isRenewal))
    if (order === undefined) return false
    write(this.db, (tx) => moveOrder(tx, order.id, 'cancelled', cause, this.now))
    this.ledger.cancel(order.id)
  }

  refund(): void | false {
    const order = this.dice.pick([...this.ledger.in('paid'), ...this.ledger.in('half refunded')])
    if (order === undefined || order.leftMinor === 0n) return false
    if (!order.byLines) return this.#refundAmount(order)
    // The bank has taken what is left of some lines.
    if (order.done.some(({ isDispute }) => isDispute)) return false
    const wanted = this.#linesOf(order)
    if (wanted === null) return false
    const { id, amountMinor } = write(this.db, (tx) => {
      const row = getOrder(tx, order.id)
      const refund = planRefundLines(tx, row, wanted.asked, row.totalMinor - row.refundedMinor)
      const asked = storeOrderRefund(tx, row, refund, this.now)
      recordRefund(tx, order.id, refund.amountMinor, cause, this.now, asked)
      return asked
    })
    equal(BigInt(amountMinor), wanted.goodsMinor + wanted.shippingMinor)
    this.ledger.refund(order.id, { key: String(id), ...wanted })
  }

  /** Some units of a line, or the shipping, that are not given back yet, and what they cost. */
  #linesOf(
    order: KnownOrder
  ): { asked: WantedRefund; goodsMinor: bigint; shippingMinor: bigint; taken: number[] } | null {
    const left = order.lines.map(({ quantity }, index) => quantity - order.takenOf(index))
    const open = left.flatMap((quantity, index) => (quantity > 0 ? [index] : []))
    const none = order.lines.map(() => 0)
    if (order.shippingLeftMinor > 0n && (open.length === 0 || this.dice.between(0, 3) === 0))
      return { asked: { shipping: 'all' }, goodsMinor: 0n, shippingMinor: order.shippingLeftMinor, taken: none }
    const index = this.dice.pick(open)
    const chosen = index === undefined ? undefined : order.lines[index]
    if (index === undefined || chosen === undefined) return null
    // A discounted line comes back as a whole: a unit of it has no price of its own.
    const isWhole = chosen.unitMinor === null
    if (isWhole && left[index] !== chosen.quantity) return null
    const quantity = isWhole ? chosen.quantity : this.dice.between(1, left[index] ?? 1)
    const goodsMinor = chosen.unitMinor === null ? chosen.totalMinor : chosen.unitMinor * BigInt(quantity)
    const asked = { items: [{ line: index + 1, quantity }] }
    return { asked, goodsMinor, shippingMinor: 0n, taken: none.map((_, at) => (at === index ? quantity : 0)) }
  }

  /** The gateway returns an amount. */
  #refundAmount(order: KnownOrder): void {
    const isRest = order.status === 'half refunded' || this.dice.between(0, 2) === 0
    const amountMinor = isRest ? order.leftMinor : BigInt(this.dice.between(1, Number(order.leftMinor)))
    const key = `re_${order.id}_${this.now}`
    this.#tellRefund(order, key, amountMinor, 'done')
    this.ledger.refundAmount(order.id, { key, amountMinor })
  }

  #tellRefund(order: KnownOrder, id: string, amountMinor: bigint, status: 'done' | 'failed'): void {
    write(this.db, (tx) => {
      const attempt = getAttempt(tx, order.attemptId ?? 0)
      applyRefunds(this.#unit(tx), attempt, [{ id, amountMinor: Number(amountMinor), status, key: null }])
    })
  }

  /** The bank sends a refund back. */
  failRefund(): void | false {
    const candidates = [...this.ledger.in('paid'), ...this.ledger.in('refunded')]
    const order = this.dice.pick(candidates.filter((each) => each.done.length > 0))
    const refund = order === undefined ? undefined : this.dice.pick(order.done)
    if (order === undefined || refund === undefined || refund.isDispute) return false
    if (order.byLines)
      write(this.db, (tx) =>
        reverseRefund(tx, order.id, Number(refund.amountMinor), cause, this.now, Number(refund.key))
      )
    else this.#tellRefund(order, refund.key, refund.amountMinor, 'failed')
    this.ledger.failRefund(order.id, refund.key, this.now)
  }

  /** An operator decides that the shop keeps the money of refunds that failed. */
  keepMoney(): void | false {
    const warnings = openWarnings(this.db).filter(({ kind }) => kind === 'refund_failed')
    if (warnings.length === 0) return false
    for (const { id, orderId } of warnings) {
      dismissWarning(this.db, id, this.now)
      this.ledger.order(orderId ?? 0).isRefundOpen = false
    }
  }

  dispute(): void | false {
    const order = this.dice.pick(this.ledger.in('paid'))
    if (order === undefined || order.attemptId === null || order.leftMinor === 0n) return false
    const id = `dp_${order.id}_${this.now}`
    this.#tellDispute(order, { id, status: 'open', amountMinor: Number(order.leftMinor) })
    order.status = 'disputed'
    order.disputeId = id
  }

  endDispute(): void | false {
    const order = this.dice.pick(this.ledger.in('disputed'))
    if (order === undefined || order.disputeId === null) return false
    const isWon = this.dice.between(0, 1) === 1
    const amountMinor = order.byLines ? order.leftMinor : BigInt(this.dice.between(1, Number(order.leftMinor)))
    this.#tellDispute(order, { id: order.disputeId, status: isWon ? 'won' : 'lost', amountMinor: Number(amountMinor) })
    order.status = 'paid'
    if (isWon) this.ledger.acceptPaid(order.id, this.now)
    else this.ledger.refundAmount(order.id, { key: order.disputeId, amountMinor, isDispute: true })
    if (!isWon && order.status === 'paid') this.ledger.acceptPaid(order.id, this.now)
  }

  #tellDispute(order: KnownOrder, dispute: Parameters<typeof applyDispute>[2]): void {
    write(this.db, (tx) => applyDispute(this.#unit(tx), getAttempt(tx, order.attemptId ?? 0), dispute))
  }

  renew(): void | false {
    const original = this.dice.pick([...this.ledger.in('paid'), ...this.ledger.in('refunded')])
    if (original === undefined) return false
    const amountMinor = this.dice.between(1, 20_000)
    const order = write(this.db, (tx) => {
      const payment = { amountMinor, currency: 'EUR', by: 'webhook' }
      return insertRenewal(tx, getOrder(tx, original.id), payment, this.now)
    })
    this.ledger.renew(original.id, {
      id: order.id,
      createdAt: this.now,
      goodsMinor: BigInt(netGoodsMinor(order)),
      totals: itemsOf(this.db, order.id).map(({ totalMinor }) => BigInt(totalMinor)),
      totalMinor: BigInt(amountMinor)
    })
    write(this.db, (tx) => moveOrder(tx, order.id, 'completed', cause, this.now))
    this.ledger.pay(order.id, this.now)
  }

  decide(): void | false {
    const order = this.dice.pick([...this.ledger.in('paid')].filter(({ affiliateId }) => affiliateId !== null))
    const referral = order === undefined ? undefined : findReferralOfOrder(this.db, order.id)
    if (order === undefined || referral === undefined) return false
    const accept = this.dice.between(0, 2) > 0
    const decision = accept ? ({ accept } as const) : ({ accept, reason: 'fraud' } as const)
    const decided = () => decideReferrals(this.db, [referral.id], decision, this.now)
    if (this.ledger.decide(order.id, accept, this.now)) decided()
    else throws(decided, { code: 'TRANSITION_REFUSED' })
  }

  bonus(): void | false {
    const affiliate = this.dice.pick([...this.ledger.affiliates.values()].filter(({ isErased }) => !isErased))
    if (affiliate === undefined) return false
    const amountMinor = this.dice.between(-2000, 5000) || 1
    giveBonus(this.db, String(affiliate.id), { amountMinor, reason: 'a film' }, this.now)
    affiliate.bonusMinor += BigInt(amountMinor)
  }

  changeRate(): void {
    const rateBps = this.dice.between(0, 10_000)
    setSetting(this.db, 'affiliates.rate', String(rateBps / 100), this.now)
    this.ledger.rateBps = BigInt(rateBps)
  }

  /** The shop caps what an order and a month earn, or caps neither. */
  changeCaps(): void {
    const [order, month] = [this.dice.pick([0, 500, 2_000]) ?? 0, this.dice.pick([0, 3_000, 6_000]) ?? 0]
    setSetting(this.db, 'affiliates.orderCap', String(order / 100), this.now)
    setSetting(this.db, 'affiliates.monthCap', String(month / 100), this.now)
    this.ledger.orderCap = order === 0 ? null : BigInt(order)
    this.ledger.monthCap = month === 0 ? null : BigInt(month)
  }

  /** An affiliate gets a rate of their own, or the shop's again. */
  changeOwnRate(): void | false {
    const affiliate = this.dice.pick(this.ledger.active())
    if (affiliate === undefined) return false
    const rateBps = this.dice.between(0, 3) === 0 ? null : this.dice.between(0, 10_000)
    setOwnRate(this.db, String(affiliate.id), { rateBps }, this.now)
    affiliate.rateBps = rateBps === null ? null : BigInt(rateBps)
  }

  payOut(): void | false {
    const only = this.dice.between(0, 3) === 0 ? this.dice.pick([...this.ledger.affiliates.values()])?.id : undefined
    const expected = this.ledger.due(this.now, only)
    const paid = payPayouts(this.db, { by: 'lena', ...(only === undefined ? {} : { affiliateId: only }) }, this.now)
    const amounts = paid.map(({ payout }) => [payout.affiliateId, BigInt(payout.amountMinor)] as const)
    deepEqual(new Map(amounts), expected)
    for (const { payout } of paid) this.ledger.payOut(payout, entriesOfPayout(this.db, payout.id), this.now, only)
    return paid.length > 0 ? undefined : false
  }

  failPayout(): void | false {
    const payout = this.dice.pick([...this.ledger.payouts.values()].filter(({ isFailed }) => !isFailed))
    if (payout === undefined) return false
    failPayout(this.db, payout.id, { reason: 'account closed', by: 'lena' }, this.now)
    this.ledger.failPayout(payout.id)
  }

  erase(): void | false {
    const affiliate = this.dice.pick([...this.ledger.affiliates.values()].filter(({ isErased }) => !isErased))
    if (affiliate === undefined) return false
    erasePerson(this.db, affiliate.userId, this.now)
    this.ledger.erase(affiliate.id)
  }

  comeBack(): void | false {
    const gone = this.dice.pick([...this.ledger.affiliates.values()].filter(({ isErased }) => isErased))
    if (gone === undefined || this.ledger.hasAccount(gone.person)) return false
    this.#join(gone.person)
  }

  verify(): void | false {
    const unverified = [...this.ledger.affiliates.values()].filter(
      ({ isErased, isVerified }) => !isErased && !isVerified
    )
    const affiliate = this.dice.pick(unverified)
    if (affiliate === undefined) return false
    confirmEmail(this.db, affiliate.userId, this.now)
    affiliate.isVerified = true
  }

  deactivate(): void | false {
    const affiliate = this.dice.pick([...this.ledger.affiliates.values()].filter(({ isErased }) => !isErased))
    if (affiliate === undefined) return false
    decideAffiliate(this.db, String(affiliate.id), affiliate.isActive ? 'deactivate' : 'approve', this.now)
    affiliate.isActive = !affiliate.isActive
  }

  async backUp(): Promise<void> {
    const { file } = await createBackup({ db: this.db, dataDir: this.folder, kind: 'manual', now: this.now })
    this.backups.push({ file, ledger: this.ledger.copy() })
  }

  async restore(): Promise<void | false> {
    const backup = this.dice.pick(this.backups.slice(-4))
    if (backup === undefined) return false
    const { file, ledger } = backup
    const before = this.ledger
    for (let times = this.dice.between(1, 2); times > 0; times -= 1) {
      this.now += 1000
      this.db.sqlite.close()
      const { lostPayouts } = await restoreBackup({ file, dataDir: this.folder, now: this.now })
      this.db = this.#open()
      const lost = before.changedSince(ledger)
      deepEqual(new Set(lostPayouts?.map(({ id }) => id)), new Set(lost.map(({ id }) => id)))
      if (lost.length > 0) throws(() => payPayouts(this.db, { by: 'lena' }, this.now), { code: 'CONFLICT' })
    }
    const adopted = adoptLostPayouts(this.db, this.now)
    this.ledger = ledger.copy()
    this.ledger.adopt(before, adopted)
  }
}

function pricesOf({
  unitPriceMinor,
  quantity,
  discountMinor
}: {
  unitPriceMinor: number
  quantity: number
  discountMinor: number
}) {
  return {
    totalMinor: BigInt(unitPriceMinor) * BigInt(quantity) - BigInt(discountMinor),
    unitMinor: discountMinor === 0 ? BigInt(unitPriceMinor) : null
  }
}
