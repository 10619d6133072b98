import { eq, inArray, lt } from 'drizzle-orm'
import type { SQLWrapper } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { describeError } from '../../platform/log.ts'
import { onceFor } from '../../platform/once-for.ts'
import { isInEuForGoods, readVatId } from '../../platform/vat.ts'
import { askVies } from '../../platform/vies.ts'
import type { ViesAnswer } from '../../platform/vies.ts'
import type { ShopContext } from '../context.ts'
import { tryTakePoint } from '../limits/points.ts'
import { setting } from '../settings/settings.ts'
import { emit } from '../webhooks/emit.ts'
import type { VatCheck } from './input.ts'
import { isSameName } from './same-name.ts'
import { vatChecks } from './schema.ts'
import { isConfirmable } from './terms.ts'

type KeptAnswer = typeof vatChecks.$inferSelect

const minuteMs = 60_000
/** For how long an answer is used again, so that a quote and its checkout ask once, and a failure does not slow down each. */
const usedForMs = { confirmed: 24 * 60 * minuteMs, not_registered: 10 * minuteMs, unavailable: minuteMs }
/** A checkout reads the answer a little later than it was asked for. */
const graceMs = 60 * minuteMs

/** What the shop needs to ask VIES. */
export type Asking = Pick<ShopContext, 'db' | 'clock' | 'vies' | 'limiter' | 'log'>

/** The requests to VIES that run, by the id. Others that need the same answer wait for it. */
const running = onceFor((_sqlite: Db['sqlite']) => new Map<string, Promise<void>>())

/**
 * Asks VIES about the VAT id of a sale that it would make tax-free, unless an answer is known. It takes at most
 * `tax.viesSeconds` and never rejects: without an answer, the sale has the tax, or is flagged. It must not be called in a
 * transaction.
 *
 * @param addressKey the client, whose requests are limited (vat_check_ip); null for an operator
 */
export async function confirmVatId(shop: Asking, text: string | null, addressKey: string | null): Promise<void> {
  const { db } = shop
  const id = confirmedId(db, text)
  if (id === undefined || isUsable(findKept(db, id), shop.clock.now(), 0)) return
  const asked = running(db.sqlite)
  const first = asked.get(id)
  if (first !== undefined) return first
  if (addressKey !== null && !(await tryTakePoint(shop, { bucket: 'vat_check_ip', key: addressKey }))) return
  const asking = asked.get(id) ?? askAndKeep(shop, id).then(() => void asked.delete(id))
  asked.set(id, asking)
  return asking
}

/** Asks VIES now, and keeps the answer for the next sales. It does not reject. */
export async function askAndKeep(shop: Asking, id: string): Promise<ViesAnswer> {
  const { db, vies, clock, log } = shop
  const requester = readVatId(setting(db, 'shop.legal.vatId'))?.id ?? null
  const answer = await askVies(vies, { id, requester }, setting(db, 'tax.viesSeconds') * 1000)
  if (answer.outcome === 'unavailable') log.warn('VIES does not confirm a VAT id', { reason: answer.reason })
  try {
    await writeWhenFree(db, (tx) => keep(tx, id, answer, clock.now()))
  } catch (error) {
    // A full disk. The sale goes on without the answer.
    log.error('the answer of VIES was not stored', { error: describeError(error) })
  }
  return answer
}

/** A failure does not replace an answer that can still be used. */
function keep(tx: Tx, vatId: string, answer: ViesAnswer, now: number): void {
  if (answer.outcome === 'unavailable' && isUsable(findKept(tx, vatId), now, 0)) return
  const nothing = { name: null, address: null, consultation: null }
  const { outcome, name, address, consultation } =
    answer.outcome === 'unavailable' ? { outcome: answer.outcome, ...nothing } : answer
  const row = { outcome, name, address, consultation, checkedAt: now }
  tx.orm
    .insert(vatChecks)
    .values({ vatId, ...row })
    .onConflictDoUpdate({ target: vatChecks.vatId, set: row })
    .run()
}

/** A VAT id with the names that the buyer gave: of a person, a company, an address. */
export type GivenVatId = { vatId: string | null; names: readonly string[] }

/**
 * What is known about a buyer's VAT id, as an order stores it; null if it changes no tax, or the shop does not ask VIES. A
 * name that is not the registered one confirms nothing, because VAT ids are public.
 */
export function vatCheckOf(db: Db, { vatId, names }: GivenVatId, now: number): VatCheck | null {
  const id = confirmedId(db, vatId)
  if (id === undefined) return null
  const kept = findKept(db, id)
  if (kept === undefined || kept.outcome === 'unavailable' || !isUsable(kept, now, graceMs))
    return accepted(db, { outcome: 'unavailable', name: null, address: null, consultation: null, checkedAt: null })
  const { outcome, name, address, consultation, checkedAt } = kept
  return withNames(db, { outcome, name, address, consultation, checkedAt }, names)
}

/** A check after the buyer gave other names. */
export function withNames(db: Db, check: Omit<VatCheck, 'accepted'>, names: readonly string[]): VatCheck {
  const isRegistered = check.outcome === 'confirmed' || check.outcome === 'other_name'
  if (!isRegistered) return accepted(db, check)
  const isSame = check.name === null || isSameName(check.name, names)
  return accepted(db, { ...check, outcome: isSame ? 'confirmed' : 'other_name' })
}

/** An id that is not registered is never accepted. One without a confirmation is by the setting. */
function accepted(db: Db, check: Omit<VatCheck, 'accepted'>): VatCheck {
  const { outcome } = check
  const isFlagged = outcome !== 'not_registered' && setting(db, 'tax.viesUnconfirmed') === 'flag'
  return { ...check, accepted: outcome === 'confirmed' || isFlagged }
}

/** The id of a text that VIES must confirm before a sale is without tax. */
function confirmedId(db: Db, text: string | null): string | undefined {
  if (text === null || setting(db, 'tax.vies') === 'off') return undefined
  const read = readVatId(text)
  return read !== undefined && isConfirmable(db, read.country) ? read.id : undefined
}

/** The id of a text that VIES knows: of a member state of the EU, or of Northern Ireland. */
export function viesId(text: string): string | undefined {
  const read = readVatId(text)
  return read !== undefined && isInEuForGoods(read.country) ? read.id : undefined
}

/** Emits what is known of the VAT id of an order. */
export function emitVatCheck(tx: Tx, orderId: number, check: VatCheck, now: number): void {
  const { outcome, accepted: isAccepted, consultation, checkedAt } = check
  emit(
    tx,
    'order.vat_id_checked',
    { orderId, outcome, accepted: isAccepted, consultation, checkedAt: toIsoOrNull(checkedAt) },
    now
  )
}

function findKept(db: Db, vatId: string): KeptAnswer | undefined {
  return db.orm.select().from(vatChecks).where(eq(vatChecks.vatId, vatId)).get()
}

function isUsable(kept: KeptAnswer | undefined, now: number, graceMs: number): boolean {
  return kept !== undefined && now - kept.checkedAt < usedForMs[kept.outcome] + graceMs
}

/** Deletes at most `limit` answers that are not used any more; orders and documents have their own copy. Returns how many. */
export function purgeVatChecks(tx: Tx, now: number, limit: number): number {
  return tx.orm
    .delete(vatChecks)
    .where(lt(vatChecks.checkedAt, now - usedForMs.confirmed - graceMs))
    .limit(limit)
    .run().changes
}

/** Deletes the answers about the VAT ids of a person who is erased. */
export function forgetVatChecks(tx: Tx, vatIds: SQLWrapper): void {
  tx.orm.delete(vatChecks).where(inArray(vatChecks.vatId, vatIds)).run()
}
