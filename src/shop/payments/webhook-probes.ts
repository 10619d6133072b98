import { eq, lte } from 'drizzle-orm'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { Db } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'
import type { ShopContext } from '../context.ts'
import { webhookProbes } from './schema.ts'
import type { ProbeDelivery } from './schema.ts'

/** How long the server looks for the deliveries of a probe. */
const openMs = 10 * 60_000
/** One event arrives once for each webhook endpoint at this address, and again when it is not answered with 2xx. */
const mostDeliveries = 8

const openTokens = rawStatement<[number], { token: string }>('SELECT token FROM webhook_probes WHERE created_at > ?')

/** Starts to look for deliveries that contain the token, and forgets probes that are over. */
export async function openProbe({ db, clock }: ShopContext, token: string): Promise<void> {
  await writeWhenFree(db, (tx) => {
    const now = clock.now()
    tx.orm
      .delete(webhookProbes)
      .where(lte(webhookProbes.createdAt, now - openMs))
      .run()
    tx.orm.insert(webhookProbes).values({ token, deliveries: [], createdAt: now }).run()
  })
}

/** The deliveries that have arrived for a probe. */
export function probeDeliveries(db: Db, token: string): ProbeDelivery[] {
  const row = db.orm.select().from(webhookProbes).where(eq(webhookProbes.token, token)).get()
  return row?.deliveries ?? []
}

/** Whether a command waits for a delivery. */
export function isProbeOpen({ db, clock }: ShopContext): boolean {
  return openTokens(db).get(clock.now() - openMs) !== undefined
}

/** Forgets a probe and what arrived for it. */
export async function closeProbe({ db }: ShopContext, token: string): Promise<void> {
  await writeWhenFree(db, (tx) => void tx.orm.delete(webhookProbes).where(eq(webhookProbes.token, token)).run())
}

/**
 * Stores a delivery if it belongs to an open probe, also one that this server refuses: the command that waits for it
 * knows the secret of the endpoint. A client that does not know the token cannot write here.
 */
export async function recordDelivery({ db, clock }: ShopContext, delivery: ProbeDelivery): Promise<void> {
  const now = clock.now()
  const open = openTokens(db).all(now - openMs)
  const found = open.find(({ token }) => delivery.body.includes(token))
  if (found === undefined) return
  await writeWhenFree(db, (tx) => {
    const deliveries = [...probeDeliveries(tx, found.token), delivery].slice(0, mostDeliveries)
    tx.orm.update(webhookProbes).set({ deliveries }).where(eq(webhookProbes.token, found.token)).run()
  })
}
