import { describe, expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import {
  claimKey,
  dropExpiredKeys,
  endClaim,
  storeAnswer,
  parseIdempotencyKey,
  releaseKey,
  linkOrder
} from '../../../src/shop/checkout/idempotency.ts'
import type { Claim } from '../../../src/shop/checkout/idempotency.ts'
import { idempotencyKeys } from '../../../src/shop/checkout/schema.ts'
import { refusal } from '../../support/accounts.ts'
import { draft, line, makeProduct, place } from '../orders/support.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'

const asked = { scope: 'address:192.0.2.7', key: 'k', fingerprint: 'f', bodyFingerprint: 'b' }
const answer = { status: 200, body: Buffer.from('{}'), setCookies: ['a=b'] }

async function claimed(db: TestDb, now = noon): Promise<Claim> {
  const result = await claimKey(db, asked, now)
  if (result.kind === 'replay') throw new Error('it has been answered')
  return result.claim
}

/** As a process leaves a key that dies; `pid` is its number. */
function leftBy(db: TestDb, pid: number, orderId: number | null = null): void {
  db.orm
    .insert(idempotencyKeys)
    .values({ ...asked, orderId, state: 'running', owner: `${pid}:x:y`, createdAt: noon, expiresAt: noon + 1_000_000 })
    .run()
}

describe('a key that is running', () => {
  test('belongs to the request that took it, in this process and to others', async () => {
    const db = emptyShop()
    await claimed(db)
    await expect(claimKey(db, asked, noon)).rejects.toThrow(
      refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'in_progress' })
    )
    await expect(claimKey(db, { ...asked, fingerprint: 'g' }, noon)).rejects.toThrow(
      refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'payload_mismatch' })
    )
    const elsewhere = { ...asked, scope: 'address:192.0.2.8' }
    await expect(claimKey(db, elsewhere, noon)).rejects.toThrow(
      refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'in_progress' })
    )
    expect(await claimKey(db, { ...elsewhere, bodyFingerprint: 'c' }, noon)).toMatchObject({ kind: 'fresh' })
  })

  test('of another process is respected while that lives, and free at once when it is dead', async () => {
    const living = emptyShop()
    leftBy(living, process.ppid)
    await expect(claimKey(living, asked, noon)).rejects.toThrow(refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT'))
    const dead = emptyShop()
    leftBy(dead, 2 ** 22 + 1)
    expect(await claimKey(dead, asked, noon)).toMatchObject({ kind: 'fresh' })
    // A container's first process has the same number before and after a crash.
    const reborn = emptyShop()
    leftBy(reborn, process.pid)
    expect(await claimKey(reborn, asked, noon)).toMatchObject({ kind: 'fresh' })
  })

  test('is given up after a minute, and who took so long can no longer make an order or answer by it', async () => {
    const db = emptyShop()
    const slow = await claimed(db)
    const order = place(db, draft([line(makeProduct(db))]))
    await expect(claimKey(db, asked, noon + 60_000)).rejects.toThrow(refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT'))
    const next = await claimed(db, noon + 60_001)
    expect(() => write(db, (tx) => linkOrder(tx, slow, order.id))).toThrow(
      refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'in_progress' })
    )
    await storeAnswer(db, slow, { ...answer, body: Buffer.from('"late"') })
    await releaseKey(db, slow)
    await storeAnswer(db, next, answer)
    expect(await claimKey(db, asked, noon + 60_002)).toEqual({ kind: 'replay', ...answer })
  })
})

describe('a key that was let go', () => {
  test('is free when no order was made, and otherwise leads to that order', async () => {
    const db = emptyShop()
    await releaseKey(db, await claimed(db))
    expect(db.orm.select().from(idempotencyKeys).all()).toEqual([])
    const second = await claimed(db)
    const order = place(db, draft([line(makeProduct(db))]))
    write(db, (tx) => linkOrder(tx, second, order.id))
    await releaseKey(db, second)
    expect(await claimKey(db, asked, noon)).toMatchObject({ kind: 'resume', orderId: order.id })
  })

  test('is free as soon as its request has ended, though that could not be written down', async () => {
    const db = emptyShop()
    endClaim(await claimed(db))
    await claimed(db)
    await expect(claimKey(db, asked, noon)).rejects.toThrow(refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT'))
  })

  test('by a process that died with its order made leads to that order', async () => {
    const db = emptyShop()
    const order = place(db, draft([line(makeProduct(db))]))
    leftBy(db, 2 ** 22 + 1, order.id)
    expect(await claimKey(db, asked, noon)).toMatchObject({ kind: 'resume', orderId: order.id })
  })
})

test('keys whose day is over are dropped, and no others', async () => {
  const db = emptyShop()
  await storeAnswer(db, await claimed(db), answer)
  const day = 24 * 60 * 60_000
  expect(write(db, (tx) => dropExpiredKeys(tx, noon + day))).toBe(0)
  expect(write(db, (tx) => dropExpiredKeys(tx, noon + day + 1))).toBe(1)
})

test('a key whose day is over is free for anything, to the millisecond', async () => {
  const db = emptyShop()
  await storeAnswer(db, await claimed(db), answer)
  const day = 24 * 60 * 60_000
  const other = { ...asked, fingerprint: 'g' }
  await expect(claimKey(db, other, noon + day - 1)).rejects.toThrow(
    refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'payload_mismatch' })
  )
  expect(await claimKey(db, other, noon + day)).toMatchObject({ kind: 'fresh', claim: other })
})

test('a key is one header of 1 to 255 printable characters, not all blank', () => {
  const refused = refusal('VALIDATION_FAILED', { fieldErrors: { 'Idempotency-Key': [expect.any(String)] } })
  expect(parseIdempotencyKey([])).toBeNull()
  for (const key of ['k', ' k', 'x'.repeat(255), '~ !']) expect(parseIdempotencyKey([key])).toBe(key)
  for (const values of [['a', 'a'], [''], [' '], ['x'.repeat(256)], ['a\u007f'], ['ä'], ['a\n'], ['\ta']])
    expect(() => parseIdempotencyKey(values)).toThrow(refused)
})
