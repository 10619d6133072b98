import { writeWhenFree } from '../../platform/db/busy.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import type { Caller } from './rows.ts'
import { endSession, endUserSessions } from './sessions.ts'

/** Ends the session of the request; a request without a session changes nothing. */
export async function logout(shop: Pick<ShopContext, 'db'>, { identity }: Pick<Caller, 'identity'>): Promise<void> {
  if (identity !== null) await writeWhenFree(shop.db, (tx) => endSession(tx, identity.session.tokenHash))
}

/** Ends every session of an account, for an operator. */
export function logOutEverywhere(db: Db, userId: number): void {
  write(db, (tx) => endUserSessions(tx, userId))
}
