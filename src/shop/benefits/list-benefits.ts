import type { Db } from '../../platform/db/database.ts'
import { grantKinds } from '../catalog/grants.ts'
import type { GrantKind } from '../catalog/grants.ts'
import { isModuleOn } from '../settings/settings.ts'
import { benefitKinds } from './kinds.ts'
import type { Benefit } from './kinds/kind.ts'

/** All current and past benefits of a person with their orders, regardless of which modules are on; for operators. */
export function listBenefits(db: Db, userId: number, now: number): (Benefit & { kind: GrantKind })[] {
  return grantKinds.flatMap((kind) => benefitKinds[kind].list(db, userId, now).map((benefit) => ({ kind, ...benefit })))
}

/** The benefits of a person whose modules are on. */
export function visibleBenefits(db: Db, userId: number, now: number): ReturnType<typeof listBenefits> {
  return listBenefits(db, userId, now).filter(({ module }) => isModuleOn(db, module))
}

/** All benefits of a person as JSON: a list for each kind, named by its plural. */
export function benefitsAsJson(db: Db, userId: number, now: number): Record<string, object[]> {
  const lists = Object.values(benefitKinds).map(({ plural, list }): [string, object[]] => [
    plural,
    list(db, userId, now).map(({ view }) => view)
  ])
  return Object.fromEntries(lists)
}
