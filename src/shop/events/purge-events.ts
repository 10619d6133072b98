import type { Tx } from '../../platform/db/database.ts'
import { rawStatement } from '../../platform/db/statements.ts'

const batch = rawStatement<{ after: number; limit: number }, { id: number; createdAt: number }>(
  'SELECT id, created_at AS createdAt FROM events WHERE id > @after ORDER BY id LIMIT @limit'
)

const remove = rawStatement<{ id: number }>(`
  DELETE FROM events WHERE id = @id
    AND NOT EXISTS (SELECT 1 FROM mails WHERE event_id = @id)
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_id = @id)`)

/**
 * Deletes the events from before a time, of the `limit` events that follow the id `after`. An event of a stored email or
 * delivery stays until that is deleted. Returns the id to continue after; null at the first event that is not from before.
 */
export function purgeEvents(tx: Tx, before: number, { after, limit }: { after: number; limit: number }): number | null {
  const events = batch(tx).all({ after, limit })
  const old = events.filter(({ createdAt }) => createdAt < before)
  for (const { id } of old) remove(tx).run({ id })
  return old.length === limit ? (old.at(-1)?.id ?? null) : null
}
