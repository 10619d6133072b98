import { eq } from 'drizzle-orm'
import { toIso } from '../../platform/iso-time.ts'
import type { Tx } from '../../platform/db/database.ts'
import { getUserById } from './find.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'

export type OptIns = Pick<UserRow, 'marketingOptIn' | 'marketingOptInAt' | 'partnerOptIn' | 'partnerOptInAt'>

/** The consent summary in the biography (docs/interface.md 4.2, docs/contract.md A8). */
export function biographyBlock(optIns: OptIns): string {
  return [
    ...consentLines('Customer', optIns.marketingOptIn, optIns.marketingOptInAt),
    ...consentLines('Partner', optIns.partnerOptIn, optIns.partnerOptInAt)
  ].join('\n')
}

function consentLines(who: string, optIn: 'yes' | 'no', at: number | null): string[] {
  return [`${who} marketing opt-in: ${optIn}`, `${who} marketing opt-in at: ${at === null ? '-' : toIso(at)}`]
}

/** Stores the customer's marketing consent with its time, and updates the biography. */
export function setMarketingOptIn(tx: Tx, userId: number, optIn: boolean, now: number): UserRow {
  return store(tx, userId, { marketingOptIn: optIn ? 'yes' : 'no', marketingOptInAt: optIn ? now : null }, now)
}

/** Stores the partner marketing consent, which is part of an affiliate application. */
export function setPartnerOptIn(tx: Tx, userId: number, optIn: boolean, now: number): UserRow {
  return store(tx, userId, { partnerOptIn: optIn ? 'yes' : 'no', partnerOptInAt: optIn ? now : null }, now)
}

function store(tx: Tx, userId: number, change: Partial<OptIns>, now: number): UserRow {
  const user = { ...getUserById(tx, userId), ...change, updatedAt: now }
  const biography = biographyBlock(user)
  tx.orm
    .update(users)
    .set({ ...change, biography, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
  return { ...user, biography }
}
