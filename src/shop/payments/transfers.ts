import { rawStatement } from '../../platform/db/statements.ts'
import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import { queueMail } from '../mail/queue-mail.ts'
import { moveOrder } from '../orders/transition.ts'
import { setting } from '../settings/settings.ts'
import { endTransfers } from './mark-paid.ts'

const dayMs = 24 * 60 * 60_000

/** An order that waits for a payment by hand, such as a bank transfer. `since` is when the buyer chose it. */
type Waiting = { orderId: number; email: string | null; since: number }

const waiting = rawStatement<{ until: number; orderId: number | null }, Waiting>(`
  SELECT o.id AS orderId, o.email, max(a.created_at) AS since
  FROM payment_attempts a JOIN orders o ON o.id = a.order_id
  WHERE a.outcome IS NULL AND a.kind = 'manual' AND o.status = 'on-hold'
    AND (@orderId IS NULL OR o.id = @orderId)
  GROUP BY o.id HAVING max(a.created_at) <= @until ORDER BY o.id`)

const reminded = rawStatement<{ orderId: number; since: number }, { id: number }>(`
  SELECT id FROM mails
  WHERE template = 'payment_reminder' AND created_at >= @since AND data ->> '$.orderId' = @orderId LIMIT 1`)

/**
 * Cancels the orders whose transfer has not arrived within `payments.manualDays`, and reminds the buyers a day before.
 * Returns how many orders were cancelled.
 */
export async function endLateTransfers(shop: ShopContext): Promise<number> {
  const now = shop.clock.now()
  const limitMs = setting(shop.db, 'payments.manualDays') * dayMs
  const late = waiting(shop.db).all({ until: now - limitMs, orderId: null })
  for (const { orderId } of late) {
    await writeWhenFree(shop.db, (tx) => {
      // Read again under the lock: the transfer may have arrived meanwhile.
      if (waiting(tx).get({ until: now - limitMs, orderId }) === undefined) return
      moveOrder(tx, orderId, 'cancelled', { by: 'hold', reason: 'the transfer did not arrive in time' }, now)
      endTransfers(tx, orderId, 'abandoned', now)
    })
  }
  for (const { orderId, email, since } of waiting(shop.db).all({ until: now - limitMs + dayMs, orderId: null })) {
    if (email === null || reminded(shop.db).get({ orderId, since }) !== undefined) continue
    const data = { orderId, endsAt: since + limitMs }
    await writeWhenFree(shop.db, (tx) => queueMail(tx, { template: 'payment_reminder', recipient: email, data }, now))
  }
  return late.length
}
