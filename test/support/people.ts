import { expect } from 'vitest'
import { mailboxCode } from '../../src/shop/accounts/mailbox-code.ts'
import type { Browser } from './browser.ts'
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

/** Enters the code that the shop would send to an email now, so that the browser counts as the mailbox's owner. */
export async function proveEmail(
  { app }: { app: Pick<ShopContext, 'keys' | 'clock'> },
  visitor: Browser,
  email: string
): Promise<void> {
  const code = mailboxCode(app.keys, email, app.clock.now())
  const { data } = await visitor.post('/store/prove-email', { email, code })
  expect(data).toEqual({ proven: true })
}

/** A caller from a fixed address, by default without a session. */
export function caller(changes: Partial<Caller> = {}): Caller {
  return { addressKey: '192.0.2.7', nonce: null, cookies: null, identity: null, ...changes }
}
