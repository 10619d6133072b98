import { queueMail, claimNext } from '../../src/shop/mail/queue.ts'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRateLimiter } from '../../src/platform/limits.ts'
import { write } from '../../src/platform/db/database.ts'
import { createEmailToken, deriveEmailToken, findUsableToken } from '../../src/shop/accounts/email-tokens.ts'
import { checkNonce, issueNonce } from '../../src/shop/accounts/nonce.ts'
import { findSession, startSession } from '../../src/shop/accounts/sessions.ts'
import { overdueOrders } from '../../src/shop/orders/holds.ts'
import { addEndpoint } from '../../src/shop/webhooks/endpoints.ts'
import { claimDelivery } from '../../src/shop/webhooks/deliveries.ts'
import { emit } from '../../src/shop/webhooks/emit.ts'
import { makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { draft, line, makeProduct, place } from './orders/support.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const years = 3_650 * day

test('a session of a clock that was ahead is none, one from before it was set back a little goes on', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop)
  const now = shop.clock.now()
  const startAt = (at: number) =>
    write(shop.db, (tx) => startSession(tx, { userId: user.id, rememberMe: true }, at)).token
  expect(findSession(shop.db, startAt(now + years), now)).toBeUndefined()
  const recent = startAt(now + 5 * minute)
  expect(findSession(shop.db, recent, now)).toBeDefined()
})

test('a session that was over once stays over, and a visit from the future keeps none alive', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop)
  const now = shop.clock.now()
  const start = () => write(shop.db, (tx) => startSession(tx, { userId: user.id, rememberMe: false }, now)).token
  const ended = start()
  expect(findSession(shop.db, ended, now + years)).toBeUndefined()
  expect(findSession(shop.db, ended, now)).toBeUndefined()
  const visited = start()
  expect(findSession(shop.db, visited, now + 20 * hour)).toBeDefined()
  expect(findSession(shop.db, visited, now)).toBeDefined()
  expect(findSession(shop.db, visited, now + 25 * hour)).toBeUndefined()
})

test('nonces and tokens of a clock that was ahead are refused', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop)
  const now = shop.clock.now()
  const nobody = { sessionTokenHash: null, startNonceHash: null }
  expect(checkNonce(shop.keys, issueNonce(shop.keys, null, now + hour), nobody, now)).toBe(false)
  expect(checkNonce(shop.keys, issueNonce(shop.keys, null, now + 5 * minute), nobody, now)).toBe(true)
  for (const [ahead, usable] of [
    [hour, false],
    [5 * minute, true]
  ] as const) {
    const asked = { kind: 'reset', userId: user.id } as const
    const row = write(shop.db, (tx) => createEmailToken(tx, shop.keys, asked, now + ahead))
    const token = deriveEmailToken(shop.keys, row)
    expect(findUsableToken(shop.db, 'reset', token, now) !== undefined).toBe(usable)
  }
})

test('a hold of a clock that was ahead is over, the longest there can be is not', () => {
  using shop = openTestShop()
  const now = shop.clock.now()
  const product = makeProduct(shop.db)
  const { id } = place(shop.db, draft([line(product)]), now + years)
  place(shop.db, draft([line(product)]), now)
  place(shop.db, { ...draft([line(product)]), holdMinutes: 1_440 }, now + 5 * minute)
  expect(overdueOrders(shop.db, now)).toEqual([id])
  expect(overdueOrders(shop.db, now, 30 * minute)).toEqual([id])
})

test('mail and webhooks of a clock that was ahead go out now, and a pause is kept', async () => {
  using shop = openTestShop()
  const user = await makeUser(shop)
  const now = shop.clock.now()
  const endpoint = write(shop.db, (tx) => {
    tx.sqlite.exec('DELETE FROM mails')
    queueMail(tx, { template: 'password_changed', recipient: 'a@shop.example', data: { userId: user.id } }, now + years)
    const { id } = addEndpoint(tx, { url: 'https://site.example/hook', types: null }, now)
    emit(tx, 'account.verified', { userId: user.id }, now + years)
    return id
  })
  expect(await claimNext(shop.db, now + years)).toMatchObject({ attempts: 1 })
  expect(await claimNext(shop.db, now)).toMatchObject({ attempts: 2 })
  expect(await claimNext(shop.db, now)).toBeUndefined()
  expect(await claimDelivery(shop.db, endpoint, now + years)).toMatchObject({ delivery: { attempts: 1 } })
  expect(await claimDelivery(shop.db, endpoint, now)).toMatchObject({ delivery: { attempts: 2 } })
  expect(await claimDelivery(shop.db, endpoint, now)).toBeUndefined()
})

test('a limit that was reached by a clock that was ahead ends within its own window', async () => {
  const file = join(temporaryFolder(), 'limits.db')
  const limiter = openRateLimiter(file)
  onTestFinished(() => limiter.close())
  const limit = { points: 2, seconds: 60 }
  const realNow = Date.now
  onTestFinished(() => void (Date.now = realNow))
  Date.now = () => realNow() + years
  await limiter.consume('login_ip', 'k', limit, 2)
  Date.now = realNow
  const refused = await limiter.consume('login_ip', 'k', limit)
  expect(refused.allowed).toBe(false)
  expect(refused.retryAfterSeconds).toBeLessThanOrEqual(60)
  expect(limiter.left('login_ip', 'k', limit).retryAfterSeconds).toBeLessThanOrEqual(60)
  Date.now = () => realNow() + 61_000
  expect(await limiter.consume('login_ip', 'k', limit)).toMatchObject({ allowed: true })
})
