import { AppError, validationFailed } from '../../errors.ts'
import type { Tx } from '../../platform/db/database.ts'
import { grantKinds, grantKindsText } from '../catalog/grants.ts'
import type { GrantKind } from '../catalog/grants.ts'
import { benefitKinds } from './kinds.ts'
import type { Ended } from './kinds/kind.ts'

/** The kind of that name; undefined when there is none. */
export function findKind(name: string): GrantKind | undefined {
  return grantKinds.find((kind) => kind === name)
}

/**
 * Gives a person a benefit that no order pays for, extending what runs, with the same events as a bought one. Returns its
 * id.
 *
 * @param said the kind and what the kind's `byHand.options` name
 * @throws AppError VALIDATION_FAILED naming the fields that are missing or not the kind's, NOT_FOUND for a plan or a
 *   product that the shop does not have
 */
export function grantByHand(
  tx: Tx,
  userId: number,
  said: { kind: string } & Record<string, unknown>,
  now: number
): number {
  const kind = findKind(said.kind)
  if (kind === undefined) throw validationFailed({ kind: [`Must be ${grantKindsText}.`] })
  return benefitKinds[kind].byHand.give(tx, userId, said, now)
}

/**
 * Ends one benefit at once, whoever gave it; its order does not give it again.
 *
 * @throws AppError NOT_FOUND when there is none, or it has ended before
 */
export function revokeByHand(tx: Tx, kind: GrantKind, id: number, now: number): Ended {
  const ended = benefitKinds[kind].end(tx, id, {}, now)
  if (ended === null) throw new AppError('NOT_FOUND', `There is no ${kind} ${id} that could be revoked.`)
  return ended
}
