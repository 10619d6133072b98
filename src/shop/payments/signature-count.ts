import { eq } from 'drizzle-orm'
import type Database from 'better-sqlite3'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import { describeError } from '../../platform/log.ts'
import { onceFor } from '../../platform/once-for.ts'
import type { ShopContext } from '../context.ts'
import { webhookSignatures } from './schema.ts'

/** How the signatures of Stripe's webhooks fared; times in epoch milliseconds. */
export type SignatureCount = {
  /** Since the shop was set up. */
  refused: number
  refusedSinceAccepted: number
  refusedAt: number | null
  acceptedAt: number | null
}

const minuteMs = 60_000
/** Refused deliveries write at most this often in a minute: anyone can send them. */
const writesPerMinute = 10

const saveRefused = rawStatement<{ count: number; now: number }>(`
  INSERT INTO webhook_signatures (id, refused, refused_since_accepted, refused_at) VALUES (1, @count, @count, @now)
  ON CONFLICT (id) DO UPDATE SET refused = refused + @count,
    refused_since_accepted = refused_since_accepted + @count, refused_at = @now`)
const saveAccepted = rawStatement<{ count: number; now: number }>(`
  INSERT INTO webhook_signatures (id, refused, refused_since_accepted, accepted_at) VALUES (1, @count, 0, @now)
  ON CONFLICT (id) DO UPDATE SET refused = refused + @count, refused_since_accepted = 0, accepted_at = @now`)

/** What this process has not written yet, and when it wrote. */
const tallyOf = onceFor((_sqlite: Database.Database) => ({
  refused: 0,
  isRefusing: true,
  minute: 0,
  writes: 0,
  acceptedAt: 0
}))

/**
 * Counts a delivery whose signature is wrong. The count is written at most ten times a minute; what is left over is
 * written with the next delivery.
 */
export async function countRefused(shop: ShopContext): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const minute = Math.floor(shop.clock.now() / minuteMs)
  if (minute !== tally.minute) Object.assign(tally, { minute, writes: 0 })
  tally.refused += 1
  tally.isRefusing = true
  if (tally.writes >= writesPerMinute) return
  tally.writes += 1
  await save(shop, saveRefused)
}

/** Counts a delivery whose signature is right: immediately after a refused one, otherwise once a minute. */
export async function countAccepted(shop: ShopContext): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const now = shop.clock.now()
  if (!tally.isRefusing && Math.abs(now - tally.acceptedAt) < minuteMs) return
  Object.assign(tally, { isRefusing: false, acceptedAt: now })
  await save(shop, saveAccepted)
}

async function save(shop: ShopContext, statement: typeof saveRefused): Promise<void> {
  const tally = tallyOf(shop.db.sqlite)
  const count = tally.refused
  tally.refused = 0
  try {
    await writeWhenFree(shop.db, (tx) => void statement(tx).run({ count, now: shop.clock.now() }))
  } catch (error) {
    // The count is only for `health` and the metrics, so the delivery is answered as usual.
    tally.refused += count
    shop.log.warn('the webhook signatures could not be counted', { error: describeError(error) })
  }
}

/** How Stripe's webhooks fared, in all processes that served this shop. */
export function readSignatureCount(db: Db): SignatureCount {
  const row = db.orm.select().from(webhookSignatures).where(eq(webhookSignatures.id, 1)).get()
  return row ?? { refused: 0, refusedSinceAccepted: 0, refusedAt: null, acceptedAt: null }
}
