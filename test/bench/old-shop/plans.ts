import type Database from 'better-sqlite3'

/** A step of a statement's plan that reads more rows the longer the shop sells. */
export type Walk = { step: string; rows: number; source: string }

type Detail = { detail: string }

/** How many rows one person, order or product may have in the small old shop. */
const ofOnePerson = 20

/**
 * The steps of a statement's plan that walk a table or an index: a scan of a table that grows, and a search whose matches
 * are more than one person has. The largest number of matches is counted in the database.
 */
export function walksOf(sqlite: Database.Database, source: string): Walk[] {
  return planOf(sqlite, source).flatMap((step) => {
    const rows = rowsOf(sqlite, source, step)
    return rows > ofOnePerson ? [{ step, rows, source }] : []
  })
}

function planOf(sqlite: Database.Database, source: string): string[] {
  const names = [...source.matchAll(/[@:$](\w+)/g)].map(([, name = '']) => [name, null])
  const unnamed = Array.from({ length: source.match(/\?/g)?.length ?? 0 }, () => null)
  const values = names.length > 0 ? [...unnamed, Object.fromEntries(names)] : unnamed
  return sqlite
    .prepare<unknown[], Detail>(`EXPLAIN QUERY PLAN ${source}`)
    .all(...values)
    .map(({ detail }) => detail)
}

/** How many rows a step of a plan reads at most, each time. */
function rowsOf(sqlite: Database.Database, source: string, step: string): number {
  const read = /^(SCAN|SEARCH) (\S+)(?: USING (.+))?$/.exec(step)
  if (read === null) return 0
  const [, kind = '', alias = '', way = ''] = read
  if (way.includes('AUTOMATIC')) return Number.POSITIVE_INFINITY
  const index = /INDEX (\S+)/.exec(way)?.[1]
  const table = tableOf(sqlite, source, alias, index)
  // An insert looks for the children of a new row only while another foreign key is violated.
  if (table === undefined || (/^\s*insert/i.test(source) && !source.includes(table))) return 0
  const partial = index === undefined ? undefined : conditionOf(sqlite, index)
  const [, tests = ''] = /\((.+)\)( LEFT-JOIN)?$/.exec(way) ?? []
  const equal = kind === 'SCAN' ? [] : tests.split(' AND ').flatMap((test) => /^(.+)=\?$/.exec(test)?.[1] ?? [])
  if (equal.length > 0 && equal.every((name) => name === 'rowid')) return 1
  const columns = equal.filter((name) => name !== '<expr>')
  // A comparison never finds null; a plan shows `IS NULL` as a comparison too.
  const known = columns.filter((name) => !new RegExp(`\\b${name}"? IS NULL`, 'i').test(source))
  return largestGroup(sqlite, table, columns, [...known.map((name) => `"${name}" IS NOT NULL`), partial ?? 'true'])
}

const groups = new Map<string, number>()

function largestGroup(
  sqlite: Database.Database,
  table: string,
  columns: readonly string[],
  conditions: readonly string[]
): number {
  const by = columns.length === 0 ? '' : `GROUP BY ${columns.map((name) => `"${name}"`).join(', ')}`
  const where = conditions.map((condition) => `(${condition})`).join(' AND ')
  const counting = `SELECT coalesce(max(rows), 0) FROM (SELECT count(*) AS rows FROM "${table}" WHERE ${where} ${by})`
  const key = `${sqlite.name} ${counting}`
  const rows = groups.get(key) ?? Number(sqlite.prepare(counting).pluck().get())
  groups.set(key, rows)
  return rows
}

function conditionOf(sqlite: Database.Database, index: string): string | undefined {
  const sql = sqlite.prepare<[string], string | null>('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(index)
  return / WHERE (.+)$/s.exec(sql ?? '')?.[1]
}

function tableOf(sqlite: Database.Database, source: string, alias: string, index?: string): string | undefined {
  const find = sqlite.prepare<[string], string>('SELECT tbl_name FROM sqlite_master WHERE name = ?').pluck()
  const named = index === undefined ? undefined : find.get(index)
  const [, behind] = new RegExp(`"?(\\w+)"? (?:AS )?"?${alias}"?(?![\\w.])`, 'i').exec(source) ?? []
  const table = named ?? find.get(alias) ?? (behind === undefined ? undefined : find.get(behind))
  return table?.startsWith('products_search') ? undefined : table
}
