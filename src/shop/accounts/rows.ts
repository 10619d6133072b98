import type { emailTokens, registrationConsents, sessions, users } from './schema.ts'

export type UserRow = typeof users.$inferSelect
export type SessionRow = typeof sessions.$inferSelect
export type EmailTokenRow = typeof emailTokens.$inferSelect
export type ConsentRow = typeof registrationConsents.$inferSelect

/** The client of a request. */
export type Caller = {
  /** The client address as limits count it. */
  readonly addressKey: string
  /** The X-Nonce header. */
  readonly nonce: string | null
  /** The Cookie header. */
  readonly cookies: string | null
  /** The valid session of the request. */
  readonly identity: { readonly session: SessionRow } | null
}
