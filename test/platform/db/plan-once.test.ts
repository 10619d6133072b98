import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'

const { sqlite } = openDatabase(':memory:')

test('the planner of a statement does not see bound values', () => {
  const { source } = sqlite.prepare(
    'SELECT ? AS a, @b AS b FROM (SELECT 1) WHERE 1 = ? ORDER BY a LIMIT ? OFFSET @most'
  )
  expect(source).toBe(
    'SELECT +? AS a, +@b AS b FROM (SELECT 1) WHERE 1 = +? ORDER BY a LIMIT CAST(? AS INTEGER) OFFSET CAST(@most AS INTEGER)'
  )
})

test('bound values keep their types, and text that looks like a parameter stays as it is', () => {
  sqlite.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB, "of?" TEXT) STRICT')
  sqlite
    .prepare(`INSERT INTO things (id, text, bytes, "of?") VALUES (?, ?, ?, 'it''s ?') -- and ?`)
    .run(7, '007', Buffer.from([0, 255]))
  sqlite.prepare('INSERT INTO things (id, text) VALUES (@id, @text)').run({ id: 8, text: null })
  const rows = sqlite.prepare('SELECT id, text, bytes, "of?" AS "of" FROM things ORDER BY id LIMIT ? OFFSET ?')
  expect(rows.all(1, 0)).toEqual([{ id: 7, text: '007', bytes: Buffer.from([0, 255]), of: "it's ?" }])
  expect(rows.all(-1, 1)).toEqual([{ id: 8, text: null, bytes: null, of: null }])
})
