import { hash } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { createPasswordHasher } from '../../../src/platform/crypto/passwords.ts'
import { lowestCost } from '../../support/password-cost.ts'

const outcomes = async (work: Promise<unknown>[]) => (await Promise.allSettled(work)).map(({ status }) => status)

describe('a password', () => {
  it('is hashed by argon2id with the current parameters and a new salt', async () => {
    const hasher = createPasswordHasher()
    const [one, two] = await Promise.all([hasher.hash('lantern'), hasher.hash('lantern')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(two).not.toBe(one)
    expect(await hasher.verify(one, 'lantern')).toBe(true)
    expect(await hasher.verify(one, 'Lantern')).toBe(false)
    expect(await hasher.verifyNothing('lantern')).toBe(false)
  })

  it('is not truncated at any length', async () => {
    const hasher = createPasswordHasher()
    const stored = await hasher.hash(`${'x'.repeat(5000)}a`)
    expect(await hasher.verify(stored, `${'x'.repeat(5000)}b`)).toBe(false)
  })

  it('needs a new hash if the old one has other parameters', async () => {
    const hasher = createPasswordHasher()
    const old = await hash('lantern', { memoryCost: 8192, timeCost: 2, parallelism: 1 })
    expect([hasher.needsRehash(old), hasher.needsRehash(await hasher.hash('lantern'))]).toEqual([true, false])
    expect(await hasher.verify(old, 'lantern')).toBe(true)
  })

  it('does not match a hash that is malformed or too expensive', async () => {
    const hasher = createPasswordHasher()
    const salt = 'c2FsdHNhbHRzYWx0c2FsdA'
    const digest = 'A'.repeat(43)
    const stored = [
      '',
      'lantern',
      `$argon2id$v=19$m=4194304,t=2,p=1$${salt}$${digest}`,
      `$argon2id$v=19$m=19456,t=99,p=1$${salt}$${digest}`,
      `$argon2id$v=19$m=7,t=2,p=1$${salt}$${digest}`,
      `$argon2id$v=19$m=19456,t=2,p=1$abcdefghijklm$${digest}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${'A'.repeat(41)}`
    ]
    for (const text of stored) expect(await hasher.verify(text, 'lantern')).toBe(false)
  })
})

describe('many concurrent passwords', () => {
  it('are hashed at most one per slot at the same time', async () => {
    const hasher = createPasswordHasher({ slots: 2 })
    const work = Array.from({ length: 11 }, () => hasher.hash('lantern'))
    expect(hasher.load()).toEqual({ running: 2, waiting: 9 })
    await Promise.all(work)
    expect(hasher.load()).toEqual({ running: 0, waiting: 0 })
  })

  it('are rejected with Retry-After when 256 are waiting', async () => {
    const hasher = createPasswordHasher({ slots: 1, cost: lowestCost })
    await hasher.verifyNothing('x')
    const work = Array.from({ length: 300 }, () => hasher.hash('lantern'))
    const results = await outcomes(work)
    expect(results.filter((status) => status === 'fulfilled')).toHaveLength(257)
    await expect(work[299]).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      status: 503,
      headers: { 'Retry-After': '2' }
    })
    await expect(hasher.hash('lantern')).resolves.toBeDefined()
  })
})
