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

const asked = { scope: 'address:192.0.2.7', key: 'k', fingerprint: 'f', bodyFingerprint: 'b', buyer: 'guest:a' }
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
  test('belongs to the request that claimed it, for this and other processes', async () => {
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
    for (const other of [{ bodyFingerprint: 'c' }, { buyer: 'guest:b', key: 'k' }])
      expect(
        await claimKey(db, { ...elsewhere, ...other, scope: `address:${Object.keys(other).join('')}` }, noon)
      ).toMatchObject({
        kind: 'fresh'
      })
  })

  test('is respected while its process lives, and free immediately after it died', async () => {
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

  test('is free after a minute, and the late request can no longer create an order or store an answer', async () => {
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

describe('a key that was released', () => {
  test('is free without an order, and otherwise leads to its order', async () => {
    const db = emptyShop()
    await releaseKey(db, await claimed(db))
    expect(db.orm.select().from(idempotencyKeys).all()).toEqual([])
    const second = await claimed(db)
    const order = place(db, draft([line(makeProduct(db))]))
    write(db, (tx) => linkOrder(tx, second, order.id))
    await releaseKey(db, second)
    expect(await claimKey(db, asked, noon)).toMatchObject({ kind: 'continue', orderId: order.id })
  })

  test('is free when its request has ended, even if that could not be stored', async () => {
    const db = emptyShop()
    endClaim(await claimed(db))
    await claimed(db)
    await expect(claimKey(db, asked, noon)).rejects.toThrow(refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT'))
  })

  test('leads to the order of a process that died', async () => {
    const db = emptyShop()
    const order = place(db, draft([line(makeProduct(db))]))
    leftBy(db, 2 ** 22 + 1, order.id)
    expect(await claimKey(db, asked, noon)).toMatchObject({ kind: 'continue', orderId: order.id })
  })
})

test('deletes expired keys only', async () => {
  const db = emptyShop()
  await storeAnswer(db, await claimed(db), answer)
  const day = 24 * 60 * 60_000
  expect(write(db, (tx) => dropExpiredKeys(tx, noon + day, 9))).toBe(0)
  expect(write(db, (tx) => dropExpiredKeys(tx, noon + day + 1, 9))).toBe(1)
})

test('frees an expired key to the millisecond', async () => {
  const db = emptyShop()
  await storeAnswer(db, await claimed(db), answer)
  const day = 24 * 60 * 60_000
  const other = { ...asked, fingerprint: 'g' }
  await expect(claimKey(db, other, noon + day - 1)).rejects.toThrow(
    refusal('IDEMPOTENCY_KEY_REUSE_CONFLICT', { reason: 'payload_mismatch' })
  )
  expect(await claimKey(db, other, noon + day)).toMatchObject({ kind: 'fresh', claim: other })
})

test('accepts one header of 1 to 255 printable characters that is not blank', () => {
  const refused = refusal('VALIDATION_FAILED', { fieldErrors: { 'Idempotency-Key': [expect.any(String)] } })
  expect(parseIdempotencyKey([])).toBeNull()
  for (const key of ['k', ' k', 'x'.repeat(255), '~ !']) expect(parseIdempotencyKey([key])).toBe(key)
  for (const values of [['a', 'a'], [''], [' '], ['x'.repeat(256)], ['a\u007f'], ['ä'], ['a\n'], ['\ta']])
    expect(() => parseIdempotencyKey(values)).toThrow(refused)
})
