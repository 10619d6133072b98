/** Everybody who may come to a shop. */
export const kinds = [
  'guest',
  'unverified',
  'customer',
  'other customer',
  'affiliate pending',
  'affiliate active',
  'administrator',
  'deactivated'
] as const
export type Kind = (typeof kinds)[number]

/** Whose the object is that a request names: the caller's, another person's, or nobody's. */
export const targets = ['own', 'foreign', 'absent'] as const
export type Target = (typeof targets)[number]

/** An answer in a word, its status and code (`200`, `401 NOT_AUTHENTICATED`), for each target or for all alike. */
export type Expected = string | Readonly<Record<Target, string>>

export type Row = Readonly<Record<Kind, Expected>>
