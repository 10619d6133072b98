import { AppError, validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { getUnerasedUser } from '../accounts/find.ts'
import { grantKinds, grantKindsText } from '../catalog/grants.ts'
import type { GrantKind } from '../catalog/grants.ts'
import { benefitKinds } from './kinds.ts'
import type { Ended } from './kinds/kind.ts'

/** The benefit kind with a name; undefined for an unknown name. */
export function findKind(name: string): GrantKind | undefined {
  return grantKinds.find((kind) => kind === name)
}

/**
 * Gives an account a benefit without an order. A running benefit is extended, with the same events as for a paid one.
 *
 * @param request the kind, and the values of the kind's `byHand.options`
 * @returns the benefit's id
 * @throws AppError VALIDATION_FAILED naming the fields that are missing or unknown, NOT_FOUND for an unknown plan or
 *   product, CONFLICT for an erased account
 */
export function grantByHand(
  db: Db,
  userId: number,
  request: { kind: string } & Record<string, unknown>,
  now: number
): number {
  const kind = findKind(request.kind)
  if (kind === undefined) throw validationFailed({ kind: [`Must be ${grantKindsText}.`] })
  return write(db, (tx) => benefitKinds[kind].byHand.give(tx, getUnerasedUser(tx, userId).id, request, now))
}

/**
 * Ends a benefit immediately, whether an order or an operator gave it. Its order does not give it again.
 *
 * @throws AppError NOT_FOUND when it does not exist or has already ended
 */
export function revokeByHand(db: Db, kind: GrantKind, id: number, now: number): Ended {
  return write(db, (tx) => {
    const ended = benefitKinds[kind].end(tx, id, {}, now)
    if (ended === null) throw new AppError('NOT_FOUND', `There is no active ${kind} ${id} to revoke.`)
    return ended
  })
}
