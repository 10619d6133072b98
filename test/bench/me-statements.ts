/**
 * The number of SQL statements of GET /me, and how much longer they take for a customer with 1,000 orders than for one
 * with 10. Usage: npx node test/bench/me-statements.ts
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { write } from '../../src/platform/db/database.ts'
import type { Db } from '../../src/platform/db/database.ts'
import type { UserRow } from '../../src/shop/accounts/rows.ts'
import { findSession, startSession } from '../../src/shop/accounts/sessions.ts'
import { giveGrants } from '../../src/shop/benefits/give.ts'
import type { GrantSpec } from '../../src/shop/catalog/grants.ts'
import { accountSummary } from '../../src/shop/entitlements/entitlements.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { person, product } from '../shop/benefits/support.ts'
import { makeAffiliate, placeOrder } from '../shop/entitlements/records.ts'

const max = { statements: 8, ratio: 1.5 }
const grants: GrantSpec[] = [
  { kind: 'membership', module: 'A', plan: 'keepers-circle', period: 'P1M' },
  { kind: 'subscription', interval: 'month', pro: false },
  { kind: 'course', course: 'punched-tin-lantern' },
  { kind: 'donation', campaign: 'panes' }
]

/** Creates a customer whose first orders have grants of all kinds and whose other orders have none. */
async function regular(shop: TestShop, email: string, orders: number): Promise<{ user: UserRow; token: string }> {
  const user = await person(shop, email)
  const productId = product(shop, `product-of-${user.id}`)
  const now = shop.clock.now()
  for (let index = 0; index < orders; index += 1) {
    const orderId = placeOrder(shop, user.id, 'completed', now + index)
    if (index >= 5) continue
    const items = [{ id: orderId, productId, quantity: 1, totalMinor: 500, grants }]
    write(shop.db, (tx) => giveGrants(tx, { orderId, userId: user.id, currency: 'EUR', items }, now + index))
  }
  makeAffiliate(shop, user.id, 'active')
  const { token } = write(shop.db, (tx) => startSession(tx, { userId: user.id, rememberMe: false }, now))
  return { user, token }
}

function me(db: Db, token: string, now: number): unknown {
  const found = findSession(db, token, now)
  if (found === undefined) throw new Error('The session was not found.')
  return accountSummary(db, found.user, { isLoggedIn: true }, now)
}

function microsecondsOf(work: () => unknown): number {
  const rounds = Array.from({ length: 9 }, () => {
    const start = process.hrtime.bigint()
    for (let call = 0; call < 500; call += 1) work()
    return Number(process.hrtime.bigint() - start) / 500_000
  })
  return rounds.toSorted((a, b) => a - b)[4] ?? Number.NaN
}

using shop = openTestShop()
const now = shop.clock.now()
const small = await regular(shop, 'ten@shop.example', 10)
const large = await regular(shop, 'thousand@shop.example', 1000)

let statements = 0
const sqlite = new Database(join(shop.dataDir, 'shopstead.db'), { verbose: () => void (statements += 1) })
me({ sqlite, orm: drizzle(sqlite) }, large.token, now)
sqlite.close()

me(shop.db, small.token, now)
const few = microsecondsOf(() => me(shop.db, small.token, now))
const many = microsecondsOf(() => me(shop.db, large.token, now))
const ratio = many / few
const holds = statements <= max.statements && ratio <= max.ratio
const result = { statements, microseconds: { orders10: few, orders1000: many }, ratio, max, holds }
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
process.exitCode = holds ? 0 : 1
