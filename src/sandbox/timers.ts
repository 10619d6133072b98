import type { Context } from './http/context.ts'
import type { Store } from './store/object-store.ts'

export type TimedAction = 'expire_session' | 'settle_payment' | 'settle_refund' | 'renew_subscription'
type Row = { object_id: string; action: TimedAction }

/** Schedules an object's action for `dueAt` (epoch ms). A later call with the same action moves it. */
export function setTimer(context: Context, objectId: string, action: TimedAction, dueAt: number): void {
  context.store
    .prepare('INSERT INTO timers VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET due_at = excluded.due_at')
    .run(objectId, action, dueAt)
}

/** Removes an object's timer; does nothing if there is none. */
export function clearTimer(context: Context, objectId: string, action: TimedAction): void {
  context.store.prepare('DELETE FROM timers WHERE object_id = ? AND action = ?').run(objectId, action)
}

/** Whether any timer is due at `nowMs`. */
export function isTimerDue(store: Store, nowMs: number): boolean {
  return store.prepare('SELECT 1 FROM timers WHERE due_at <= ? LIMIT 1').get(nowMs) !== undefined
}

/** Removes and returns the oldest timer that is due, so that only one process runs it. */
export function takeDueTimer(store: Store, nowMs: number): Row | undefined {
  return store
    .prepare<Row>(
      `DELETE FROM timers WHERE rowid = (SELECT rowid FROM timers WHERE due_at <= ? ORDER BY due_at LIMIT 1)
       RETURNING object_id, action`
    )
    .get(nowMs)
}
