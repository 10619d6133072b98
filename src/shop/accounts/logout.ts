import { writeWhenFree } from '../../platform/db/busy.ts'
import type { ShopContext } from '../context.ts'
import type { Caller } from './rows.ts'
import { endSession } from './sessions.ts'

/** Ends the session that the request came with; without one there is nothing to do. */
export async function logout(shop: Pick<ShopContext, 'db'>, { identity }: Pick<Caller, 'identity'>): Promise<void> {
  if (identity !== null) await writeWhenFree(shop.db, (tx) => endSession(tx, identity.session.tokenHash))
}
