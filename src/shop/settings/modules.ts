import { keysOf } from '../../platform/typed.ts'
type ModuleRow = {
  /** The description in `modules list`. */
  about: string
  /** The module's name in `dependencies`, and in `flags` if `inFlags`. */
  flag: `has${string}`
  inFlags: boolean
  /** Whether /health lists it. */
  inHealth: boolean
  /** Whether it can be the `formsProvider`, which is the first such module that is on. */
  providesForms: boolean
  /** Whether it is on in a shop that never switched it. */
  isOnByDefault: boolean
}

/** Every module. A new module needs only a row here. */
export const moduleTable = {
  commerce: {
    about: 'the shop: offers, checkout, orders, subscriptions',
    flag: 'hasCommerce',
    inFlags: true,
    inHealth: true,
    providesForms: false,
    isOnByDefault: true
  },
  membershipsA: {
    about: 'memberships of plans of module A',
    flag: 'hasMembershipsA',
    inFlags: true,
    inHealth: true,
    providesForms: false,
    isOnByDefault: true
  },
  membershipsB: {
    about: 'memberships of plans of module B',
    flag: 'hasMembershipsB',
    inFlags: true,
    inHealth: false,
    providesForms: false,
    isOnByDefault: true
  },
  affiliates: {
    about: 'affiliate accounts, referrals and payouts',
    flag: 'hasAffiliates',
    inFlags: true,
    inHealth: true,
    providesForms: false,
    isOnByDefault: true
  },
  downloads: {
    about: 'files that buyers download',
    flag: 'hasDownloads',
    inFlags: true,
    inHealth: false,
    providesForms: false,
    isOnByDefault: true
  },
  formsA: {
    about: 'forms of the site, first choice',
    flag: 'hasFormsA',
    inFlags: true,
    inHealth: false,
    providesForms: true,
    isOnByDefault: true
  },
  formsB: {
    about: 'forms of the site, second choice',
    flag: 'hasFormsB',
    inFlags: true,
    inHealth: false,
    providesForms: true,
    isOnByDefault: true
  },
  donations: {
    about: 'donations and their campaigns',
    flag: 'hasDonations',
    inFlags: true,
    inHealth: false,
    providesForms: false,
    isOnByDefault: true
  },
  courses: {
    about: 'enrolments in courses',
    flag: 'hasCourses',
    // docs/interface.md 2.2 has a flag for a user's enrolments instead (hasCourseEnrollments).
    inFlags: false,
    inHealth: false,
    providesForms: false,
    isOnByDefault: true
  }
} as const satisfies Record<string, ModuleRow>

type Table = typeof moduleTable
export type ModuleName = keyof Table
type NamesWhere<Property extends 'inFlags' | 'inHealth'> = {
  [Name in ModuleName]: Table[Name][Property] extends true ? Name : never
}[ModuleName]

/** All modules, in the order of the table. */
export const moduleNames = keysOf(moduleTable)
/** The modules with a flag. */
export const flaggedModules = moduleNames.filter((name): name is NamesWhere<'inFlags'> => moduleTable[name].inFlags)
/** The modules that /health lists. */
export const healthModules = moduleNames.filter((name): name is NamesWhere<'inHealth'> => moduleTable[name].inHealth)

/** Tells whether a module is on. */
export type Modules = (name: ModuleName) => boolean

/** Which modules are on: the switched ones as stored, the others by default. */
export function modulesBySwitches(switches: ReadonlyMap<string, boolean>): Modules {
  return (name) => switches.get(name) ?? moduleTable[name].isOnByDefault
}

/** Maps each of these modules to a value, by the module's name. */
export function byName<Name extends ModuleName, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>
}

/** Maps each of these modules to a value, by the module's flag. */
export function byFlag<Name extends ModuleName, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value
): Record<Table[Name]['flag'], Value> {
  const entries = names.map((name) => [moduleTable[name].flag, valueOf(name)])
  return Object.fromEntries(entries) as Record<Table[Name]['flag'], Value>
}
