import { write } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import type { Caller } from './rows.ts'
import { endSession } from './sessions.ts'

/** Ends the session that the request came with; without one there is nothing to do. */
export function logout(shop: Pick<ShopContext, 'db'>, { identity }: Pick<Caller, 'identity'>): void {
  if (identity !== null) write(shop.db, (tx) => endSession(tx, identity.session.tokenHash))
}
