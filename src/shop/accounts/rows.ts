import type { emailTokens, registrationConsents, sessions, users } from './schema.ts'

export type UserRow = typeof users.$inferSelect
export type SessionRow = typeof sessions.$inferSelect
export type EmailTokenRow = typeof emailTokens.$inferSelect
export type ConsentRow = typeof registrationConsents.$inferSelect

/** What a verb must know of the request that asks for it. */
export type Caller = {
  /** Client address by which limits count. */
  readonly addressKey: string
  /** The X-Nonce that was sent. */
  readonly nonce: string | null
  /** The live session that came with the request. */
  readonly identity: { readonly session: SessionRow } | null
}
