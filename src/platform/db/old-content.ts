import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { transact } from './database.ts'
import type { Db } from './database.ts'

/** Pages of one step. Writes of the shop wait meanwhile, about 10 ms. */
const pagesPerStep = 64
/** Pages of one read. */
const pagesPerRead = 1_024
/** Another connection may write between the checkpoint and the lock; then both are tried again. */
const mostTries = 200
/** Beyond this number of pages (64 GB), the first byte of an overflow page could look like the type of another page. */
const mostPages = 2 ** 24

type File = { handle: number; pageBytes: number; pages: number }

/**
 * Overwrites what is left of texts in the unused bytes of the database file and empties the write-ahead log. `secure_delete`
 * overwrites what is deleted, but not a copy that stays in the free space of a page when SQLite moves a row to another page
 * (https://sqlite.org/fileformat2.html#b_tree_pages). Rows that contain such a text do not change. It works in steps of
 * about 10 ms, so that the shop continues to write.
 *
 * @param texts null overwrites all unused bytes
 * @returns false when another process kept the log in use, such as Litestream
 */
export function removeOldContent({ sqlite }: Pick<Db, 'sqlite'>, texts: readonly string[] | null): boolean {
  const wanted = texts?.map((text) => Buffer.from(text)) ?? null
  const pageBytes = Number(sqlite.pragma('page_size', { simple: true }))
  if (!emptyLog(sqlite)) return false
  // It stays open until the process ends: closing it would release the locks that SQLite has on the file.
  const handle = openSync(sqlite.name, 'r+')
  const file = { handle, pageBytes, pages: statSync(sqlite.name).size / pageBytes }
  if (file.pages > mostPages) return false
  const found = pagesWith(file, wanted)
  for (let step = 0; step < found.length; step += pagesPerStep) {
    const pages = found.slice(step, step + pagesPerStep)
    if (!whileLogIsEmpty(sqlite, () => overwrite(file, pages, wanted))) return false
  }
  return emptyLog(sqlite)
}

function emptyLog(sqlite: Database.Database): boolean {
  return sqlite.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0
}

/** Runs `work` while the file has the newest state of every page, and no other connection can change one. */
function whileLogIsEmpty(sqlite: Database.Database, work: () => void): boolean {
  const version = Number(sqlite.pragma('user_version', { simple: true }))
  for (let tries = 0; tries < mostTries; tries += 1) {
    if (!emptyLog(sqlite)) return false
    const isDone = transact(sqlite, () => {
      if (statSync(`${sqlite.name}-wal`).size > 0) return false
      work()
      // A commit makes other connections read their pages again, so that none writes the old bytes back.
      sqlite.pragma(`user_version = ${version}`)
      return true
    })
    if (isDone) return true
  }
  return false
}

function pagesWith(file: File, wanted: readonly Buffer[] | null): number[] {
  const free = freePages(file)
  const found: number[] = []
  for (let first = 1; first <= file.pages; first += pagesPerRead) {
    const piece = readPages(file, first, pagesPerRead)
    for (let index = 0; index * file.pageBytes < piece.length; index += 1) {
      const page = piece.subarray(index * file.pageBytes, (index + 1) * file.pageBytes)
      if (contains(unusedBytes(page, first + index, free), wanted)) found.push(first + index)
    }
  }
  return found
}

function overwrite(file: File, pages: readonly number[], wanted: readonly Buffer[] | null): void {
  const free = freePages(file)
  for (const number of pages) {
    const page = readPages(file, number, 1)
    const unused = unusedBytes(page, number, free)
    // The page may have changed since it was found.
    if (!contains(unused, wanted)) continue
    const position = (number - 1) * file.pageBytes + unused.byteOffset - page.byteOffset
    writeSync(file.handle, Buffer.alloc(unused.length), 0, unused.length, position)
  }
  fsyncSync(file.handle)
}

function contains(unused: Buffer, wanted: readonly Buffer[] | null): boolean {
  if (wanted === null) return unused.some((byte) => byte !== 0)
  return wanted.some((text) => unused.includes(text))
}

const bTreePages: ReadonlyMap<number, number> = new Map([
  [2, 12],
  [5, 12],
  [10, 8],
  [13, 8]
])

/**
 * The bytes of a page that contain nothing: those between the list of its cells and the first cell, or all of a free page.
 *
 * @param free how many bytes at the start of each free page are in use, by page number
 */
function unusedBytes(page: Buffer, number: number, free: ReadonlyMap<number, number>): Buffer {
  const used = free.get(number)
  if (used !== undefined) return page.subarray(used)
  const start = number === 1 ? 100 : 0
  const headerBytes = bTreePages.get(page.readUInt8(start))
  if (headerBytes === undefined) return page.subarray(0, 0)
  const cells = page.readUInt16BE(start + 3)
  // 0 stands for 65,536.
  const content = page.readUInt16BE(start + 5) || 65_536
  return page.subarray(start + headerBytes + 2 * cells, content)
}

/** Free pages: a chain of pages that list the others. */
function freePages(file: File): Map<number, number> {
  const free = new Map<number, number>()
  for (let trunk = readPages(file, 1, 1).readUInt32BE(32); trunk !== 0 && !free.has(trunk);) {
    const page = readPages(file, trunk, 1)
    const leaves = page.readUInt32BE(4)
    free.set(trunk, 8 + 4 * leaves)
    for (let index = 0; index < leaves; index += 1) free.set(page.readUInt32BE(8 + 4 * index), 0)
    trunk = page.readUInt32BE(0)
  }
  return free
}

function readPages({ handle, pageBytes }: File, first: number, count: number): Buffer {
  const buffer = Buffer.alloc(count * pageBytes)
  const bytes = readSync(handle, buffer, 0, buffer.length, (first - 1) * pageBytes)
  return buffer.subarray(0, bytes)
}
