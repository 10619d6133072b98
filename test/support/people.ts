import { write } from '../../src/platform/db/database.ts'
import { createUser } from '../../src/shop/accounts/create-user.ts'
import type { NewUser } from '../../src/shop/accounts/create-user.ts'
import type { Caller, UserRow } from '../../src/shop/accounts/rows.ts'
import type { ShopContext } from '../../src/shop/context.ts'

export const goodPassword = 'harbour-lantern-42'

/** An account that can log in with `goodPassword`. */
export async function makeUser(shop: ShopContext, changes: Partial<NewUser> = {}): Promise<UserRow> {
  const passwordHash = changes.passwordHash ?? (await shop.passwords.hash(goodPassword))
  return write(shop.db, (tx) =>
    createUser(
      tx,
      {
        email: 'mira@shop.example',
        displayName: 'Mira Okafor',
        marketingOptIn: false,
        verified: false,
        termsAcceptedAt: null,
        privacyAcceptedAt: null,
        ...changes,
        passwordHash
      },
      shop.clock.now()
    )
  )
}

/** A caller from a fixed address, by default without a session. */
export function caller(changes: Partial<Caller> = {}): Caller {
  return { addressKey: '192.0.2.7', nonce: null, cookies: null, identity: null, ...changes }
}
