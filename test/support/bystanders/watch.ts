import { appendFileSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { bystandersVariable, file } from './prepare.ts'
import type { Kind } from './prepare.ts'
import { forEveryRow } from './for-every-row.ts'
import { isListedRead, tailOf } from './reads-of-every-row.ts'

/**
 * Every test has bystanders: a person with a session, addresses, orders in each state, invoices, refunds, subscriptions,
 * an affiliate, a webhook endpoint and so on, in a database beside the shop's. Each UPDATE and DELETE that the product
 * runs in a test also runs there with the same values, in a savepoint that is rolled back: it must not change a row. A
 * statement that lost its condition, or a part of it, changes some. The tests themselves don't see the bystanders.
 *
 * A SELECT of the product must have a condition, or be on the list of those that read everybody's rows: a test with one
 * row of a table can't tell a SELECT that finds its row from one that lost its condition.
 */
type Watch = {
  /** What the statements of the current test changed, and those that read everybody's rows. */
  touched: Set<string>
  /** How often each statement has run in the current test. */
  times: Map<string, number>
  /** Set by a test that changes bystanders on purpose. */
  allowed: boolean
  replay(statement: Database.Statement, values: readonly unknown[]): void
}

/** Where to write which statements ran with bystanders, and from where; a script can compare that with the code. */
const logFile = process.env['BYSTANDERS_LOG']

/** A statement that ran so often in a test without changing a bystander is not tried again: a seed runs thousands. */
const enoughTimes = 50

const key = Symbol.for('shopstead.bystanders')
const known = globalThis as typeof globalThis & { [key]?: Watch | undefined }

/** The folder with the bystanders of this run. */
export function preparedFolder(): string {
  const folder = process.env[bystandersVariable]
  if (folder === undefined) throw new Error('The run has no bystanders: globalSetup needs bystanders/prepare.ts.')
  return folder
}

/** Watches the statements of this worker, from the first call on. */
export function watchBystanders(): Watch {
  return (known[key] ??= startWatch())
}

function startWatch(): Watch {
  const open = bystandersOf(preparedFolder())
  let replaying = false
  const watch: Watch = {
    touched: new Set(),
    times: new Map(),
    allowed: false,
    replay(statement, values) {
      const kind = kindOfStatement(statement.source)
      if (kind === 'other' || replaying || watch.allowed) return
      if (kind === 'reads everything') return noteRead(watch, statement.source)
      const times = (watch.times.get(statement.source) ?? 0) + 1
      if (times > enoughTimes) return
      watch.times.set(statement.source, times)
      replaying = true
      const rows = open(kindOf(statement.database.name)).changesOf(statement.source, values)
      replaying = false
      if (rows !== 0) note(watch, statement.source, rows)
      else if (logFile !== undefined) log(logFile, statement.source)
    }
  }
  watchStatements(watch)
  return watch
}

/** The statements of the rest of this test change bystanders on purpose. */
export function changeBystanders(): void {
  watchBystanders().allowed = true
}

/** Wraps the methods that run a statement, for every connection of the process. */
function watchStatements(watch: Watch): void {
  const memory = new Database(':memory:')
  const prototype = Object.getPrototypeOf(memory.prepare('SELECT 1'))
  memory.close()
  for (const name of ['run', 'get', 'all', 'iterate'] as const) {
    const method = prototype[name]
    prototype[name] = function (this: Database.Statement, ...values: unknown[]) {
      watch.replay(this, values)
      return method.apply(this, values)
    }
  }
}

function note(watch: Watch, source: string, rows: number | string): void {
  const from = sourceFrame()
  if (from === undefined) return
  const sql = source.replaceAll(/\s+/g, ' ').trim()
  if (forEveryRow.some(({ statement }) => statement === sql)) return
  watch.touched.add(`${from} changes ${rows} rows of bystanders: ${sql}`)
}

function noteRead(watch: Watch, source: string): void {
  const from = sourceFrame()?.replace(/:\d+$/, '')
  if (from === undefined) return
  // A listed one is not looked at again, because each look costs a stack trace.
  if (isListedRead(from, source)) kinds.set(source, 'other')
  else watch.touched.add(`${from} reads every row, which reads-of-every-row.ts does not list: ${tailOf(source)}`)
}

const root = join(import.meta.dirname, '../../..')
const notTheCaller = /node_modules|test\/support\/bystanders|src\/platform\/db\/database\.ts/

/** The line of the product that ran the statement; undefined when the test ran it itself. */
function sourceFrame(): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 60
  const lines = (new Error('stack').stack ?? '').split('\n')
  Error.stackTraceLimit = before
  const frame = lines
    .filter((line) => line.includes(root))
    .map((line) => line.slice(line.indexOf(root) + root.length + 1).replace(/:\d+\)?$/, ''))
    .find((line) => !notTheCaller.test(line))
  return frame?.startsWith('src/') ? frame : undefined
}

function log(target: string, sql: string): void {
  const from = sourceFrame()
  if (from !== undefined)
    appendFileSync(target, `${JSON.stringify({ from, sql: sql.replaceAll(/\s+/g, ' ').trim() })}\n`)
}

type StatementKind = 'changes rows' | 'reads everything' | 'other'
const kinds = new Map<string, StatementKind>()

/** What the watch does with a statement. */
export function kindOfStatement(source: string): StatementKind {
  const before = kinds.get(source)
  if (before !== undefined) return before
  const kind = readKind(source)
  kinds.set(source, kind)
  return kind
}

/** An upsert changes only the row that it would have inserted. */
function readKind(source: string): StatementKind {
  if (/^\s*(update|delete|with\b[^]*\b(update|delete)\b)/i.test(source)) return 'changes rows'
  return /^\s*(select|with)\b[^]*\bfrom\b/i.test(source) && !/\bwhere\b/i.test(source) ? 'reads everything' : 'other'
}

function kindOf(name: string): Kind {
  const base = basename(name)
  return base === 'sandbox.db' ? 'sandbox' : base === 'limits.db' ? 'limits' : 'shopstead'
}

export type Bystanders = { changesOf(source: string, values: readonly unknown[]): number | string }

/** The bystanders of each kind of database, opened on first use. */
export function bystandersOf(prepared: string): (kind: Kind) => Bystanders {
  const opened = new Map<Kind, Bystanders>()
  return (kind) => {
    const before = opened.get(kind)
    if (before !== undefined) return before
    const bystanders = openBystanders(prepared, kind)
    opened.set(kind, bystanders)
    return bystanders
  }
}

/** Opens a worker's own copy: one transaction that never commits. */
function openBystanders(prepared: string, kind: Kind): Bystanders {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-bystanders-'))
  copyFileSync(file(prepared, kind), join(folder, 'bystanders.db'))
  const { sqlite } = openDatabase(join(folder, 'bystanders.db'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const statements = new Map<string, Database.Statement | undefined>()
  sqlite.exec('BEGIN IMMEDIATE')
  const savepoint = sqlite.prepare('SAVEPOINT replay')
  const rollback = sqlite.prepare('ROLLBACK TO replay')
  const total = sqlite.prepare<[], number>('SELECT total_changes()').pluck()
  return {
    changesOf(source, values) {
      if (!statements.has(source)) statements.set(source, prepareOn(sqlite, source))
      const statement = statements.get(source)
      if (statement === undefined) return 0
      const before = Number(total.get())
      savepoint.run()
      try {
        if (statement.reader) statement.all(...values)
        else statement.run(...values)
        return Number(total.get()) - before
      } catch (error) {
        // A constraint refuses a change only after it has found a row to change.
        return error instanceof Database.SqliteError ? error.message : 0
      } finally {
        rollback.run()
      }
    }
  }
}

/** A statement on a table that only a test has, or of another version, has no bystanders. */
function prepareOn(sqlite: Database.Database, source: string): Database.Statement | undefined {
  try {
    return sqlite.prepare(source)
  } catch {
    return undefined
  }
}
