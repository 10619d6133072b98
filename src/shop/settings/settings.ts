import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { isProvisional, write, rawStatement } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { oncePerTurn } from '../../platform/once-for.ts'
import { definitions, settingKeys } from './definitions.ts'
import type { Bucket, RateLimit, SettingKey, SettingValue } from './definitions.ts'
import { moduleNames, modulesBySwitches } from './modules.ts'
import type { ModuleName, Modules } from './modules.ts'
import { modules, settings } from './schema.ts'

/** The settings and modules of one database at one revision. */
type Snapshot = { revision: number; values: Map<string, unknown>; isOn: Modules }

const snapshots = new WeakMap<Db['sqlite'], Snapshot>()
const allRevisions = rawStatement<[], Revisions>(
  `SELECT (SELECT value FROM revisions WHERE name = 'settings') AS settings,
          (SELECT value FROM revisions WHERE name = 'catalog') AS catalog`
)

/** Counters that every change of the settings (modules included) or of the catalog increments, by any process. */
export type Revisions = { readonly settings: number; readonly catalog: number }

/** Reads the current revisions. Data that is cached under a revision is valid until the revision changes. */
export const revisions = oncePerTurn((db: Db): Revisions => allRevisions(db).get() ?? { settings: 0, catalog: 0 })

/** Reads the snapshot again when the revision has changed, so that a server sees the command line's changes immediately. */
function snapshot(db: Db): Snapshot {
  const current = revisions(db).settings
  const known = snapshots.get(db.sqlite)
  // A transaction that changes settings has a revision of its own, which no other connection sees before the commit.
  if (known?.revision === current) return known
  const switches = db.orm.select().from(modules).all()
  const fresh: Snapshot = {
    revision: current,
    values: new Map(
      db.orm
        .select()
        .from(settings)
        .all()
        .map((row) => [row.key, JSON.parse(row.value)])
    ),
    isOn: modulesBySwitches(new Map(switches.map(({ name, enabled }) => [name, enabled])))
  }
  if (!isProvisional(db)) snapshots.set(db.sqlite, fresh)
  return fresh
}

/** The current value of a setting, or its default. Cheap: values are cached until any process changes a setting. */
export function setting<K extends SettingKey>(db: Db, key: K): SettingValue<K> {
  const { values } = snapshot(db)
  return (values.has(key) ? values.get(key) : definitions[key].default) as SettingValue<K>
}

/** When a setting was last set (epoch milliseconds); 0 for one that has its default. */
export function settingChangedAt(db: Db, key: SettingKey): number {
  const row = db.orm.select({ at: settings.updatedAt }).from(settings).where(eq(settings.key, key)).get()
  return row?.at ?? 0
}

/** Whether a module is on. */
export function isModuleOn(db: Db, name: ModuleName): boolean {
  return snapshot(db).isOn(name)
}

/** The limit of a bucket; null when it is off. */
export function rateLimit(db: Db, bucket: Bucket): RateLimit {
  const value = setting(db, `limits.${bucket}`)
  const [points, seconds] = value.split('/')
  return value === 'off' ? null : { points: Number(points), seconds: Number(seconds) }
}

/** A setting as `settings list` shows it. */
export type SettingView = { key: SettingKey; type: string; value: unknown; default: unknown; about: string }

/** Every setting with its type, value, default and meaning. */
export function listSettings(db: Db): SettingView[] {
  return settingKeys.map((key) => ({
    key,
    type: definitions[key].type,
    value: setting(db, key),
    default: definitions[key].default,
    about: definitions[key].about
  }))
}

/** Checks the key of a setting. @throws AppError NOT_FOUND for an unknown key */
export function parseSettingKey(key: string): SettingKey {
  const known = settingKeys.find((candidate) => candidate === key)
  if (known === undefined) {
    throw new AppError('NOT_FOUND', `Unknown setting "${key}". "shopstead settings list" lists all settings.`)
  }
  return known
}

/**
 * Sets one setting from text as an operator types it (`true`, `15`, `Harbour Shop`, `["https://a.example"]`).
 *
 * @throws AppError VALIDATION_FAILED with the setting's key and rule
 */
export function setSetting(db: Db, key: SettingKey, text: string, now: number): void {
  const result = (definitions[key].schema as z.ZodType).safeParse(parsers[definitions[key].type](text))
  if (!result.success) {
    const rule = result.error.issues[0]?.message ?? 'another value'
    const details = { fieldErrors: { [key]: [`Must be ${rule}.`] } }
    throw new AppError('VALIDATION_FAILED', `${key} must be ${rule}.`, details)
  }
  const value = JSON.stringify(result.data)
  write(db, (tx) => {
    tx.orm
      .insert(settings)
      .values({ key, value, updatedAt: now })
      .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: now } })
      .run()
  })
}

/** Resets a setting to its default. */
export function unsetSetting(db: Db, key: SettingKey): void {
  write(db, (tx) => void tx.orm.delete(settings).where(eq(settings.key, key)).run())
}

const asText = (text: string): string => text
const asNumber = (text: string): number | string => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)

/** The value that a text means for each type of setting. The setting's schema then checks the value. */
const parsers: Readonly<Record<(typeof definitions)[SettingKey]['type'], (text: string) => unknown>> = {
  text: asText,
  limit: asText,
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  integer: asNumber,
  number: asNumber,
  list: (text) => (text === '' ? [] : parseList(text))
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON, so it is a list with commas.
    return text.split(',').map((part) => part.trim())
  }
}

/** Every module and whether it is enabled. */
export function listModules(db: Db): { name: ModuleName; enabled: boolean }[] {
  return moduleNames.map((name) => ({ name, enabled: isModuleOn(db, name) }))
}

/** Checks the name of a module. @throws AppError NOT_FOUND for an unknown name */
export function parseModuleName(name: string): ModuleName {
  const known = moduleNames.find((candidate) => candidate === name)
  if (known === undefined) {
    throw new AppError('NOT_FOUND', `Unknown module "${name}". The modules are ${moduleNames.join(', ')}.`)
  }
  return known
}

/** Enables or disables a module. Its data stays. */
export function switchModule(db: Db, name: ModuleName, enabled: boolean, now: number): void {
  write(
    db,
    (tx) =>
      void tx.orm
        .insert(modules)
        .values({ name, enabled, updatedAt: now })
        .onConflictDoUpdate({ target: modules.name, set: { enabled, updatedAt: now } })
        .run()
  )
}
