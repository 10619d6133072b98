/**
 * The reference: bare node:http, with the shop's own bytes where they do not change, and with the best SQL known where
 * they come out of the database. No framework, and nothing is checked.
 *
 * A value is bound as `+?`, not `?`: SQLite with STAT4, which better-sqlite3 brings, otherwise plans a statement with a
 * join or an ORDER BY anew whenever a value is bound to it, since the best plan might depend on the value. That costs
 * four times what the statement does.
 *
 * Usage: node test/bench/reference-server.ts DATABASE ANSWERS, which is a file of KeptAnswer by address
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { answerKept } from './reference/answer.ts'
import type { Handler, KeptAnswer } from './reference/answer.ts'
import { answerCheckouts } from './reference/checkout.ts'
import { answerMe } from './reference/me.ts'
import { answerOrders } from './reference/orders.ts'
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
  ['/store/checkout-session', answerCheckouts(sqlite)]
])
const kept = JSON.parse(readFileSync(answers, 'utf8')) as Record<string, KeptAnswer>
for (const [path, answer] of Object.entries(kept)) handlers.set(path, answerKept(answer))

const server = createServer((request, response) => {
  const url = request.url ?? ''
  const query = url.indexOf('?')
  handlers.get(query === -1 ? url : url.slice(0, query))?.(request, response)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
