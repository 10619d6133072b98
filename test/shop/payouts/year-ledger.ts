import { deepEqual, equal } from 'node:assert/strict'
import { KnownOrder, shareOf, sumOf } from './year-order.ts'
import type { OrderFields, Referral, Refund, Status } from './year-order.ts'

export type KnownAffiliate = {
  id: number
  person: number
  userId: number
  createdAt: number
  isActive: boolean
  isErased: boolean
  isVerified: boolean
  /** Null for the shop's. */
  rateBps: bigint | null
  /** The new account of an erased one's mailbox. */
  successorId: number | null
  bonusMinor: bigint
  bonusSettledMinor: bigint
}

type Owed = {
  affiliateId: number
  affiliateCreatedAt: number
  orderId: number | null
  referralAt: number | null
  owedMinor: bigint
}
type Payee = Pick<Owed, 'affiliateId' | 'affiliateCreatedAt'>
type KnownPayout = Payee & { id: number; createdAt: number; lines: Owed[]; isFailed: boolean }
type Entry = { affiliateId: number; orderId: number | null; amountMinor: number }

const holdMs = 30 * 86_400_000

/** What the affiliates of a shop earn, were paid and owe, from the events alone, in BigInt. */
export class Ledger {
  rateBps = 1000n
  orderCap: bigint | null = null
  monthCap: bigint | null = null
  affiliates = new Map<number, KnownAffiliate>()
  orders = new Map<number, KnownOrder>()
  payouts = new Map<number, KnownPayout>()

  copy(): Ledger {
    const copy = new Ledger()
    Object.assign(copy, { rateBps: this.rateBps, orderCap: this.orderCap, monthCap: this.monthCap })
    copy.affiliates = structuredClone(this.affiliates)
    copy.payouts = structuredClone(this.payouts)
    copy.orders = new Map([...this.orders].map(([id, order]) => [id, new KnownOrder(structuredClone(order))]))
    return copy
  }

  order(id: number): KnownOrder {
    const order = this.orders.get(id)
    if (order === undefined) throw new Error(`order ${id} is not known`)
    return order
  }

  in(status: Status): KnownOrder[] {
    return [...this.orders.values()].filter((order) => order.status === status)
  }

  active(): KnownAffiliate[] {
    return [...this.affiliates.values()].filter(({ isActive, isErased }) => isActive && !isErased)
  }

  join(affiliate: Pick<KnownAffiliate, 'id' | 'person' | 'userId' | 'createdAt' | 'isVerified'>): void {
    for (const former of this.affiliates.values())
      if (former.person === affiliate.person && former.isErased) former.successorId = affiliate.id
    const nothing = { successorId: null, rateBps: null, bonusMinor: 0n, bonusSettledMinor: 0n }
    this.affiliates.set(affiliate.id, { ...affiliate, isActive: true, isErased: false, ...nothing })
  }

  hasAccount(person: number): boolean {
    return [...this.affiliates.values()].some((each) => each.person === person && !each.isErased)
  }

  erase(id: number): void {
    const affiliate = this.affiliates.get(id)
    if (affiliate !== undefined) Object.assign(affiliate, { isErased: true, isActive: false })
  }

  place(
    fields: Pick<
      OrderFields,
      'id' | 'createdAt' | 'affiliateId' | 'person' | 'buyer' | 'lines' | 'shippingMinor' | 'byLines'
    >
  ): void {
    const order = new KnownOrder({ ...fields, goodsMinor: sumOf(fields.lines, ({ totalMinor }) => totalMinor) })
    this.orders.set(order.id, order)
    if (order.affiliateId !== null) this.#refer(order, order.affiliateId, order.createdAt)
  }

  /** An affiliate without an active account, and goods that cost nothing, get no referral. */
  #refer(order: KnownOrder, affiliateId: number, createdAt: number): void {
    order.affiliateId = affiliateId
    if (order.goodsMinor === 0n || !this.#isCreditable(affiliateId)) return
    const open = { state: 'pending', why: null, acceptedAt: null, isAcceptedByHand: false, settledMinor: 0n } as const
    const ownBps = this.affiliates.get(affiliateId)?.rateBps ?? this.rateBps
    const rates = order.lines.map(({ rateBps }) => rateBps ?? ownBps)
    const { orderCap, monthCap } = this
    order.referral = { affiliateId, createdAt, rates, orderCap, monthCap, leftOfMonth: null, ...open }
  }

  #isCreditable(affiliateId: number): boolean {
    return this.active().some(({ id }) => id === affiliateId)
  }

  credit(id: number, affiliateId: number, now: number): void {
    const order = this.order(id)
    this.#refer(order, affiliateId, now)
    if (order.status === 'paid') this.acceptPaid(id, now)
  }

  renew(
    id: number,
    renewal: Pick<OrderFields, 'id' | 'createdAt' | 'goodsMinor'> & { totals: bigint[]; totalMinor: bigint }
  ): void {
    const { affiliateId, person, buyer, referral, lines } = this.order(id)
    const { totals, totalMinor, ...fields } = renewal
    const shippingMinor = totalMinor - fields.goodsMinor
    const order = new KnownOrder({
      ...fields,
      lines: lines.map((each, index) => ({ ...each, totalMinor: totals[index] ?? 0n, unitMinor: null })),
      affiliateId,
      person,
      buyer,
      shippingMinor,
      byLines: true,
      isRenewal: true
    })
    this.orders.set(order.id, order)
    if (affiliateId !== null) this.#refer(order, affiliateId, order.createdAt)
    const refused = referral?.state === 'rejected' && referral.why !== 'order' ? referral.why : null
    if (refused !== null) this.#reject(order, refused)
  }

  pay(id: number, now: number): void {
    this.order(id).status = 'paid'
    this.acceptPaid(id, now)
  }

  /** An order is paid now, or again: its pending referral is accepted, unless somebody must look at it. */
  acceptPaid(id: number, now: number): void {
    const order = this.order(id)
    const { referral, buyer } = order
    if (referral === null || this.affiliates.get(referral.affiliateId)?.isErased !== false) return
    if (buyer === 'own email') this.#reject(order, 'self')
    if (referral.state === 'pending' && buyer === 'honest' && this.#isCreditable(referral.affiliateId))
      this.#accept(order, { acceptedAt: now })
  }

  /** What others of the month have earned is not left of its cap. */
  #accept(order: KnownOrder, changes: Partial<Referral>): void {
    const { referral } = order
    if (referral === null) return
    Object.assign(referral, { state: 'accepted', why: null, ...changes })
    const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)
    const group = this.#groupOf(referral.affiliateId)
    const others = [...this.orders.values()].filter((other) => {
      const { affiliateId = 0, createdAt = 0 } = other.referral ?? {}
      return other !== order && group.has(affiliateId) && monthOf(createdAt) === monthOf(referral.createdAt)
    })
    const left = (referral.monthCap ?? 0n) - sumOf(others, (other) => this.earnedFor(other))
    referral.leftOfMonth = referral.monthCap === null ? null : left < 0n ? 0n : left
  }

  #reject({ referral }: KnownOrder, why: NonNullable<Referral['why']>): void {
    if (referral === null) return
    const isReplaced = referral.why === null || (referral.why === 'order' && why !== 'order')
    if (isReplaced) referral.why = why
    referral.state = 'rejected'
  }

  fail(id: number): void {
    const order = this.order(id)
    order.status = 'failed'
    this.#reject(order, 'order')
  }

  cancel(id: number): void {
    const order = this.order(id)
    order.status = 'cancelled'
    this.#reject(order, 'order')
  }

  reopen(id: number): void {
    const order = this.order(id)
    order.status = 'pending'
    if (order.referral?.state === 'rejected' && order.referral.why === 'order')
      Object.assign(order.referral, { state: 'pending', why: null, acceptedAt: null })
  }

  refund(id: number, refund: Pick<Refund, 'key' | 'goodsMinor' | 'shippingMinor' | 'taken'>): void {
    const { key, goodsMinor, shippingMinor, taken } = refund
    const amountMinor = goodsMinor + shippingMinor
    this.#addRefund(this.order(id), {
      key,
      amountMinor,
      goodsMinor,
      shippingMinor,
      taken,
      isDispute: false,
      isFailed: false
    })
  }

  /** An amount returns goods and shipping in proportion to what is left of them. */
  refundAmount(
    id: number,
    { key, amountMinor, isDispute = false }: { key: string; amountMinor: bigint; isDispute?: boolean }
  ): void {
    const order = this.order(id)
    const { leftMinor, goodsLeftMinor } = order
    const product = amountMinor * goodsLeftMinor
    const rest = product % leftMinor
    const other = (amountMinor * (leftMinor - goodsLeftMinor)) % leftMinor
    // The larger remainder gets the unit that is left over; of equal ones, the goods.
    const goodsMinor = product / leftMinor + (rest + other > 0n && rest >= other ? 1n : 0n)
    const shippingMinor = amountMinor - goodsMinor
    this.#addRefund(order, { key, amountMinor, goodsMinor, shippingMinor, taken: [], isDispute, isFailed: false })
  }

  #addRefund(order: KnownOrder, refund: Refund): void {
    order.refunds.push(refund)
    if (order.leftMinor > 0n) return
    order.status = 'refunded'
    order.isRefundOpen = false
    this.#reject(order, 'order')
  }

  failRefund(id: number, key: string, now: number): void {
    const order = this.order(id)
    for (const refund of order.refunds) if (refund.key === key) refund.isFailed = true
    if (!order.byLines) order.isRefundOpen = true
    const { referral } = order
    if (referral?.state === 'accepted') this.#accept(order, {})
    if (order.status !== 'refunded') return
    order.status = 'half refunded'
    if (referral?.state !== 'rejected' || referral.why !== 'order') return
    if (referral.acceptedAt === null) Object.assign(referral, { state: 'pending', why: null })
    else this.#accept(order, { acceptedAt: now })
  }

  /** Returns whether the shop must do it. */
  decide(id: number, accept: boolean, now: number): boolean {
    const order = this.order(id)
    const { referral } = order
    if (referral === null) return false
    if (!accept) {
      this.#reject(order, 'operator')
      return true
    }
    if (referral.state === 'accepted') return true
    if (referral.why === 'self' || !this.#isCreditable(referral.affiliateId)) return false
    this.#accept(order, { acceptedAt: now, isAcceptedByHand: true })
    return true
  }

  /**
   * The commission of an order: the rate of its lines, half up for those that have the same, less the share of each line
   * that was given back, half up, and at most what the caps allow.
   */
  earnedFor(order: KnownOrder): bigint {
    const { referral } = order
    if (referral?.state !== 'accepted') return 0n
    const limits = [this.#ofLines(order, referral), referral.orderCap, referral.leftOfMonth]
    return limits.reduce<bigint>((least, limit) => (limit !== null && limit < least ? limit : least), 1n << 62n)
  }

  #ofLines({ lines, returned }: KnownOrder, referral: Referral): bigint {
    const commissions = lines.map(() => 0n)
    for (const rateBps of new Set(referral.rates)) {
      const bases = lines.map(({ totalMinor }, line) => (referral.rates[line] === rateBps ? totalMinor : 0n))
      const sumMinor = sumOf(bases, (base) => base)
      for (const [line, share] of shareOf((sumMinor * rateBps + 5_000n) / 10_000n, bases).entries())
        commissions[line] = (commissions[line] ?? 0n) + share
    }
    return lines.reduce((sum, { totalMinor }, line) => {
      const [commission, back] = [commissions[line] ?? 0n, returned[line] ?? 0n]
      return totalMinor === 0n ? sum : sum + commission - (2n * commission * back + totalMinor) / (2n * totalMinor)
    }, 0n)
  }

  /** An account, and the erased ones of the same mailbox. */
  #groupOf(id: number): Set<number> {
    const former = [...this.affiliates.values()].filter(({ successorId }) => successorId === id)
    return new Set([id, ...former.map((each) => each.id)])
  }

  /** Commissions less reversals, and what operators added. */
  earned(id: number): bigint {
    const group = this.#groupOf(id)
    const orders = [...this.orders.values()].filter(({ referral }) => group.has(referral?.affiliateId ?? 0))
    const members = [...this.affiliates.values()].filter((each) => group.has(each.id))
    return sumOf(orders, (order) => this.earnedFor(order)) + sumOf(members, ({ bonusMinor }) => bonusMinor)
  }

  /** What payouts that arrived have paid. */
  paid(id: number): bigint {
    const group = this.#groupOf(id)
    const lines = [...this.payouts.values()].flatMap((payout) => (payout.isFailed ? [] : payout.lines))
    return sumOf(
      lines.filter((each) => group.has(each.affiliateId)),
      ({ owedMinor }) => owedMinor
    )
  }

  /** What is due to an account now, less its debts. */
  dueOf(id: number, now: number): bigint {
    return sumOf(this.#dueLines(now).get(id) ?? [], ({ owedMinor }) => owedMinor)
  }

  /** What a payout pays now, by affiliate. */
  due(now: number, only?: number): Map<number, bigint> {
    const sums = [...this.#dueLines(now, only)].map(
      ([id, lines]) => [id, sumOf(lines, ({ owedMinor }) => owedMinor)] as const
    )
    return new Map(sums.filter(([, sum]) => sum > 0n))
  }

  #dueLines(now: number, only?: number): Map<number, Owed[]> {
    const group = only === undefined ? null : this.#groupOf(only)
    const lines = this.#openLines().filter(({ affiliateId }) => group === null || group.has(affiliateId))
    const due = lines.filter((each) => each.owedMinor < 0n || !this.#isHeld(each, now))
    return Map.groupBy(due, ({ affiliateId }) => this.affiliates.get(affiliateId)?.successorId ?? affiliateId)
  }

  #openLines(): Owed[] {
    const ofOrders = [...this.orders.values()].flatMap((order) => {
      const { referral, id: orderId } = order
      if (referral === null) return []
      const { affiliateId, createdAt: referralAt, settledMinor } = referral
      const affiliateCreatedAt = this.affiliates.get(affiliateId)?.createdAt ?? 0
      return [{ affiliateId, affiliateCreatedAt, orderId, referralAt, owedMinor: this.earnedFor(order) - settledMinor }]
    })
    const byHand = [...this.affiliates.values()].map(
      ({ id: affiliateId, createdAt, bonusMinor, bonusSettledMinor }) => {
        const owedMinor = bonusMinor - bonusSettledMinor
        return { affiliateId, affiliateCreatedAt: createdAt, orderId: null, referralAt: null, owedMinor }
      }
    )
    return [...ofOrders, ...byHand].filter(({ owedMinor }) => owedMinor !== 0n)
  }

  #isHeld({ affiliateId, orderId }: Owed, now: number): boolean {
    const affiliate = this.affiliates.get(affiliateId)
    const payee = this.affiliates.get(affiliate?.successorId ?? affiliateId)
    if (payee === undefined || payee.isErased || (payee.id !== affiliateId && !payee.isVerified)) return true
    const order = orderId === null ? undefined : this.order(orderId)
    if (order?.referral?.state !== 'accepted') return false
    if (order.status !== 'paid' && order.status !== 'half refunded') return true
    if (order.status === 'half refunded' && order.isRefundOpen) return true
    return (order.referral.acceptedAt ?? now) > now - holdMs
  }

  /** Records a payout of the shop, whose entries must be what is due. */
  payOut(
    { id, affiliateId, createdAt }: { id: number; affiliateId: number; createdAt: number },
    entries: readonly Entry[],
    now: number,
    only?: number
  ): void {
    const lines = this.#dueLines(now, only).get(affiliateId) ?? []
    const toText = (rows: readonly Entry[]) =>
      rows.map((row) => `${row.affiliateId} ${row.orderId} ${row.amountMinor}`).toSorted()
    const own = lines.map((each) => ({ ...each, amountMinor: -Number(each.owedMinor) }))
    deepEqual(toText(entries), toText(own))
    const affiliateCreatedAt = this.affiliates.get(affiliateId)?.createdAt ?? 0
    this.payouts.set(id, { id, affiliateId, affiliateCreatedAt, createdAt, lines, isFailed: false })
    this.#settle(lines, 1n)
  }

  #settle(lines: readonly Owed[], sign: bigint): void {
    for (const { affiliateId, orderId, owedMinor } of lines) {
      const referral = orderId === null ? null : this.order(orderId).referral
      const affiliate = this.affiliates.get(affiliateId)
      if (referral !== null) referral.settledMinor += sign * owedMinor
      else if (affiliate !== undefined) affiliate.bonusSettledMinor += sign * owedMinor
    }
  }

  failPayout(id: number): void {
    const payout = this.payouts.get(id)
    if (payout === undefined || payout.isFailed) return
    payout.isFailed = true
    this.#settle(payout.lines, -1n)
  }

  /** The payouts that are not in an earlier ledger, or had not failed there. */
  changedSince(earlier: Ledger): KnownPayout[] {
    return [...this.payouts.values()].filter((payout) => {
      const known = earlier.payouts.get(payout.id)
      return known?.createdAt !== payout.createdAt || known.isFailed !== payout.isFailed
    })
  }

  /**
   * Takes over the payouts of a ledger that a restore has replaced by this one: their money is gone.
   *
   * @param adopted what the shop has recorded; a payout whose id is taken has another one
   */
  adopt(replaced: Ledger, adopted: readonly { id: number; createdAt: number; amountMinor: number }[]): void {
    for (const lost of replaced.changedSince(this)) {
      const amountMinor = sumOf(lost.lines, ({ owedMinor }) => owedMinor)
      const same = adopted.filter(
        (each) => each.createdAt === lost.createdAt && BigInt(each.amountMinor) === amountMinor
      )
      const row = same.find(({ id }) => id === lost.id) ?? same[0]
      const payout = { ...lost, id: row?.id ?? lost.id }
      if (this.payouts.get(payout.id)?.createdAt !== payout.createdAt) this.#record(payout)
      if (payout.isFailed) this.failPayout(payout.id)
    }
  }

  /** A payout to an account that is lost, too, is one to the erased account whose commissions it paid. */
  #record({ id, createdAt, lines, ...paid }: KnownPayout): void {
    const isKnown = (each: Payee): boolean =>
      this.affiliates.get(each.affiliateId)?.createdAt === each.affiliateCreatedAt
    const payee = [paid, ...lines].find(isKnown)
    if (payee === undefined) return
    const { affiliateId, affiliateCreatedAt } = payee
    const recorded = lines.map((line) => {
      const referral = line.orderId === null ? null : (this.orders.get(line.orderId)?.referral ?? null)
      if (referral !== null && referral.createdAt === line.referralAt) return line
      const whose = isKnown(line) ? {} : { affiliateId, affiliateCreatedAt }
      return { ...line, ...whose, orderId: null, referralAt: null }
    })
    equal(this.payouts.has(id), false)
    this.payouts.set(id, { id, affiliateId, affiliateCreatedAt, createdAt, lines: recorded, isFailed: false })
    this.#settle(recorded, 1n)
  }
}
