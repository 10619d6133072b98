import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { getUnerasedUser } from '../accounts/deactivate.ts'
import { grantKinds, grantKindsText } from '../catalog/grants.ts'
import type { GrantKind } from '../catalog/grants.ts'
import { benefitKinds } from './kinds.ts'
import type { Ended } from './kinds/kind.ts'

/** The kind of that name; undefined when there is none. */
export function findKind(name: string): GrantKind | undefined {
  return grantKinds.find((kind) => kind === name)
}

/**
 * Gives an account a benefit that no order pays for. A running one is extended, with the same events as a bought one.
 *
 * @param said the kind and what the kind's `byHand.options` name
 * @returns the benefit's id
 * @throws AppError VALIDATION_FAILED naming the fields that are missing or not the kind's, NOT_FOUND for a plan or a
 *   product that the shop does not have, CONFLICT for an erased account
 */
export function grantByHand(
  db: Db,
  userId: number,
  said: { kind: string } & Record<string, unknown>,
  now: number
): number {
  const kind = findKind(said.kind)
  if (kind === undefined) throw validationFailed({ kind: [`Must be ${grantKindsText}.`] })
  return write(db, (tx) => benefitKinds[kind].byHand.give(tx, getUnerasedUser(tx, userId).id, said, now))
}

/**
 * Ends a benefit at once, whether an order or an operator gave it. Its order does not give it again.
 *
 * @throws AppError NOT_FOUND when there is none, or it has already ended
 */
export function revokeByHand(db: Db, kind: GrantKind, id: number, now: number): Ended {
  return write(db, (tx) => {
    const ended = benefitKinds[kind].end(tx, id, {}, now)
    if (ended === null) throw new AppError('NOT_FOUND', `There is no ${kind} ${id} that could be revoked.`)
    return ended
  })
}
