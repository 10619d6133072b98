import { write } from '../../../src/platform/db/database.ts'
import type { LogFields } from '../../../src/platform/log.ts'
import { getOrder } from '../../../src/shop/orders/find.ts'
import type { OrderRow } from '../../../src/shop/orders/find.ts'
import { createAttempt, getAttempt } from '../../../src/shop/payments/attempts.ts'
import type { UnitOfWork } from '../../../src/shop/payments/warnings.ts'
import type { GatewayState } from '../../../src/shop/payments/gateway-state.ts'
import type { AttemptRow } from '../../../src/shop/payments/rows.ts'
import { applyGatewayState } from '../../../src/shop/payments/settle.ts'
import type { Settled } from '../../../src/shop/payments/settle.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

export const later = noon + 5_000

/** The books of a shop without server and gateway: it applies answers of a made-up gateway. */
export type Books = {
  db: TestDb
  logged: { message: string; fields: LogFields }[]
  /** One transaction as the gateway's webhook makes it, five seconds after noon. */
  commit<T>(work: (unit: UnitOfWork) => T extends PromiseLike<unknown> ? never : T): T
  /** An order of 12.50 euros for a thing that has to be shipped, not paid yet. */
  place(changes?: Parameters<typeof draft>[1]): OrderRow
  attempt(order: OrderRow, kind?: AttemptRow['kind']): AttemptRow
  order(id: number): OrderRow
  /** The current row of an attempt. */
  now(attempt: AttemptRow): AttemptRow
  tell(attempt: AttemptRow, changes?: Partial<GatewayState>): Settled
}

export function openBooks(): Books {
  const db = emptyShop()
  const logged: Books['logged'] = []
  const quiet = () => undefined
  const warn = (message: string, fields: LogFields = {}) => void logged.push({ message, fields })
  const log = { debug: quiet, info: quiet, warn, error: quiet }
  const commit: Books['commit'] = (work) => write(db, (tx) => work({ tx, log, by: 'webhook', now: later }))
  return {
    db,
    logged,
    commit,
    place: (changes) => place(db, draft([line(makeProduct(db))], changes)),
    attempt: (order, kind = 'payment_intent') =>
      write(db, (tx) => createAttempt(tx, order, { gateway: 'sandbox', kind, livemode: false }, noon)),
    order: (id) => getOrder(db, id),
    now: ({ id }) => getAttempt(db, id),
    tell: (attempt, changes) => commit((unit) => applyGatewayState(unit, attempt.id, stateOf(attempt, changes)))
  }
}

/** What the gateway says of an attempt that was paid as it was asked for, but for `changes`. */
export function stateOf(attempt: AttemptRow, changes: Partial<GatewayState> = {}): GatewayState {
  return {
    objectId: `pi_${attempt.id}`,
    paymentIntentId: `pi_${attempt.id}`,
    verdict: 'paid',
    status: 'succeeded',
    amountMinor: attempt.amountMinor,
    currency: attempt.currency,
    livemode: attempt.livemode,
    token: attempt.token,
    email: null,
    redirectUrl: null,
    url: null,
    failure: null,
    card: null,
    subscription: null,
    ...changes
  }
}
