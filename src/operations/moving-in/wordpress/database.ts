import { createConnection } from 'mysql2/promise'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { AppError } from '../../../errors.ts'

/** A row as MySQL writes it: every value is text. */
export type Row = Readonly<Record<string, string | null>>

/** The database of a WordPress, opened for reading only. */
export type WordPress = {
  /** What precedes the name of each table, such as `wp_`. */
  readonly prefix: string
  /** Whether the database has a table, named without the prefix. */
  has(table: string): boolean
  /** Reads rows. `{posts}` in the SQL becomes the name of the table with its prefix. */
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Reads rows in parts, in the order of a column with a unique number, `id` in the SQL, which compares it with `?`. */
  parts(sql: string, size?: number): AsyncGenerator<Row[]>
  /** The value of an option; undefined if the WordPress does not have it. */
  option(name: string): Promise<string | undefined>
  close(): Promise<void>
}

const partRows = 100
/** Tables that each WordPress has. Others with the same name and another prefix belong to another one. */
const coreTables = ['options', 'posts', 'postmeta', 'users', 'usermeta']

/**
 * Connects to a WordPress database. The session is read-only and sees one moment of the database.
 *
 * @param url `mysql://user:password@host/database`; `?socketPath=` for a socket
 * @param prefix of the tables; found if undefined
 * @throws AppError DEPENDENCY_UNAVAILABLE when it cannot connect; VALIDATION_FAILED when the database has no WordPress, or
 *   several and no prefix
 */
export async function openWordPress(url: string, prefix?: string): Promise<WordPress> {
  const connection = await connect(url)
  try {
    await connection.query("SET SESSION time_zone = '+00:00'")
    await connection.query('SET SESSION TRANSACTION READ ONLY')
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    const tables = await tablesOf(connection)
    return reader(connection, tables, choosePrefix(tables, prefix))
  } catch (error) {
    connection.destroy()
    throw error
  }
}

async function connect(url: string): Promise<Connection> {
  try {
    return await createConnection({
      uri: url,
      charset: 'utf8mb4',
      // Numbers would lose digits, and dates such as 0000-00-00 are none.
      typeCast: (field) => field.string()
    })
  } catch (cause) {
    // The driver's message names the user and the host, not the password.
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('DEPENDENCY_UNAVAILABLE', `The database cannot be opened: ${reason}`, {}, { cause })
  }
}

async function tablesOf(connection: Connection): Promise<Set<string>> {
  const [rows] = await connection.query<RowDataPacket[]>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()'
  )
  return new Set(rows.map(({ name }) => String(name)))
}

function choosePrefix(tables: ReadonlySet<string>, wanted: string | undefined): string {
  const found = [...tables]
    .filter((name) => name.endsWith('options'))
    .map((name) => name.slice(0, -'options'.length))
    .filter((prefix) => coreTables.every((table) => tables.has(prefix + table)))
  if (wanted !== undefined && found.includes(wanted)) return wanted
  const [only, ...others] = found
  if (wanted === undefined && only !== undefined && others.length === 0) return only
  const list = found.map((prefix) => `"${prefix}"`).join(', ')
  throw new AppError(
    'VALIDATION_FAILED',
    only === undefined
      ? `The database has no WordPress: it needs tables that end in ${coreTables.join(', ')}.`
      : `The database has a WordPress with each of the prefixes ${list}. Pass one with --prefix.`
  )
}

function reader(connection: Connection, tables: ReadonlySet<string>, prefix: string): WordPress {
  const named = (sql: string): string => sql.replaceAll(/\{(\w+)\}/g, (_, table: string) => `\`${prefix}${table}\``)
  const rows = async (sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const [found] = await connection.query<(RowDataPacket & Row)[]>(named(sql), [...values])
    return found
  }
  return {
    prefix,
    has: (table) => tables.has(prefix + table),
    rows,
    async *parts(sql, size = partRows) {
      for (let after = 0; ;) {
        const found = await rows(`${sql} ORDER BY id LIMIT ${size}`, [after])
        if (found.length > 0) yield found
        if (found.length < size) return
        after = Number(found.at(-1)?.['id'])
      }
    },
    option: async (name) => {
      const [row] = await rows('SELECT option_value FROM {options} WHERE option_name = ?', [name])
      return row?.['option_value'] ?? undefined
    },
    close: () => connection.end()
  }
}
