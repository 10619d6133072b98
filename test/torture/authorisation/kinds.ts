/** The kinds of people who use a shop. */
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

/** The owner of the object in a request: the caller, another person, or none because it does not exist. */
export const targets = ['own', 'foreign', 'absent'] as const
export type Target = (typeof targets)[number]

/** The expected status and code (`200`, `401 NOT_AUTHENTICATED`), for each target or one for all. */
export type Expected = string | Readonly<Record<Target, string>>

export type Row = Readonly<Record<Kind, Expected>>
