/**
 * The reference: bare node:http with the shop's own bytes for constant responses, and with the best known SQL for the
 * others. No framework and no checks.
 *
 * Values are bound as `+?`, not `?`. With STAT4, which better-sqlite3 enables, SQLite otherwise plans a statement with a
 * join or an ORDER BY again for every bound value, which costs four times as much as the statement.
 *
 * Usage: node test/bench/reference-server.ts DATABASE RESPONSES, which is a file of StoredResponse by path
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { sendStored } from './reference/answer.ts'
import type { Handler, StoredResponse } from './reference/answer.ts'
import { answerCheckouts } from './reference/checkout.ts'
import { answerMe } from './reference/me.ts'
import { answerOrders } from './reference/orders.ts'
import { pictureName, sendPicture } from './reference/picture.ts'
import { answerQuotes } from './reference/quote.ts'
import { answerReferrals } from './reference/referrals.ts'

const [file = '', answers = ''] = process.argv.slice(2)
const sqlite = new Database(file)
sqlite.pragma('journal_mode = WAL')
sqlite.pragma('synchronous = FULL')
sqlite.pragma('foreign_keys = ON')
sqlite.pragma('temp_store = MEMORY')
sqlite.pragma('cache_size = -32768')
sqlite.pragma('wal_autocheckpoint = 4000')

const handlers = new Map<string, Handler>([
  ['/me', answerMe(sqlite)],
  ['/orders', answerOrders(sqlite)],
  ['/affiliates/referrals', answerReferrals(sqlite)],
  ['/store/quote', answerQuotes(sqlite)],
  [`/media/${pictureName}`, sendPicture(join(dirname(file), 'media', pictureName))],
  ['/store/checkout-session', answerCheckouts(sqlite)]
])
const stored = JSON.parse(readFileSync(answers, 'utf8')) as Record<string, StoredResponse>
for (const [path, answer] of Object.entries(stored)) handlers.set(path, sendStored(answer))

const server = createServer((request, response) => {
  const url = request.url ?? ''
  const query = url.indexOf('?')
  handlers.get(query === -1 ? url : url.slice(0, query))?.(request, response)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
