import type { Db } from '../../platform/db/database.ts'
import { grantKinds } from '../catalog/grants.ts'
import type { GrantKind } from '../catalog/grants.ts'
import { isModuleOn } from '../settings/settings.ts'
import { benefitKinds } from './kinds.ts'
import type { Benefit } from './kinds/kind.ts'

/** Everything that a person holds or held, with the order each came from, whatever modules are on: for the operator. */
export function listBenefits(db: Db, userId: number, now: number): (Benefit & { kind: GrantKind })[] {
  return grantKinds.flatMap((kind) => benefitKinds[kind].list(db, userId, now).map((benefit) => ({ kind, ...benefit })))
}

/** What a person has of modules that are on. */
export function visibleBenefits(db: Db, userId: number, now: number): ReturnType<typeof listBenefits> {
  return listBenefits(db, userId, now).filter(({ module }) => isModuleOn(db, module))
}

/** All of it as JSON: a list for each kind, by the kind's plural. */
export function benefitsAsJson(db: Db, userId: number, now: number): Record<string, object[]> {
  const lists = Object.values(benefitKinds).map(({ plural, list }) => [
    plural,
    list(db, userId, now).map(({ view }) => view)
  ])
  return Object.fromEntries(lists) as Record<string, object[]>
}
