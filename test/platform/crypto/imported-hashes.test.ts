import { describe, expect, it } from 'vitest'
import { importedCost, verifyImported } from '../../../src/platform/crypto/imported-hashes.ts'
import { createPasswordHasher } from '../../../src/platform/crypto/passwords.ts'
import { lowestCost } from '../../support/password-cost.ts'

/**
 * Published vectors: phpass's test.php and hashcat's example hashes for phpass; crypt_blowfish's wrapper.c for bcrypt;
 * RFC 1321 for MD5. The hashes of WordPress 6.8 are from a WordPress 7.1.
 */
const vectors: readonly [hash: string, password: string][] = [
  ['$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0', 'test12345'],
  ['$P$984478476IagS59wHZvyQMArzfx58u.', 'hashcat'],
  ['$H$984478476IagS59wHZvyQMArzfx58u.', 'hashcat'],
  ['$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  ['$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK', 'U*U*'],
  ['$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a', 'U*U*U'],
  [
    '$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui',
    '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored'
  ],
  ['$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'],
  ['900150983cd24fb0d6963f7d28e17f72', 'abc'],
  ['d41d8cd98f00b204e9800998ecf8427e', ''],
  ['$wp$2y$10$80bquP20eZB5ZPUIselGAeDJaEs0Mioh9Aed7kfxmBnOLiT3/xcRi', "O'Brien-63162"],
  ['$wp$2y$10$LBLz2pekROr69wN.lKVGceVjriPV0NIe0QOvE6XE.mDNzIYiroOj.', '  Leerzeichen außen  '],
  ['$P$B9qld/ns5WYM1RR.xUPYDzkqywrDe1.', 'Umlaut äöü ß € 🔑']
]

describe('a password hash of another shop', () => {
  it.each(vectors)('%s matches its password only', async (hash, password) => {
    expect(await verifyImported(hash, password)).toBe(true)
    expect(await verifyImported(hash, `x${password}`)).toBe(false)
    const hasher = createPasswordHasher({ cost: lowestCost })
    expect(await hasher.verify(hash, password)).toBe(true)
    expect(hasher.needsRehash(hash)).toBe(true)
  })

  it('is refused if it is malformed or asks for too much', async () => {
    const body = 'CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'
    const refused = [
      `$2y$15$${body}`,
      `$2y$03$${body}`,
      `$2x$05$${body}`,
      `$2y$05$${body}x`,
      '$P$H84478476IagS59wHZvyQMArzfx58u.',
      '$P$484478476IagS59wHZvyQMArzfx58u.',
      '$P$984478476IagS59wHZvyQMArzfx58u',
      '900150983CD24FB0D6963F7D28E17F72'
    ]
    const hasher = createPasswordHasher({ cost: lowestCost })
    for (const hash of refused) {
      expect(importedCost(hash)).toBeUndefined()
      expect(await hasher.verify(hash, 'U*U')).toBe(false)
    }
  })

  it('is checked together with one hash of each other cost, so that all accounts take equally long', async () => {
    const hasher = createPasswordHasher({ slots: 1, cost: lowestCost })
    const own = await hasher.hash('lantern')
    const costs = ['$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', '$P$984478476IagS59wHZvyQMArzfx58u.']
    // Another caller waits behind each turn, so the number of its turns is the number of hashes.
    const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
      const state = { isDone: false, turns: 0 }
      const end = work().finally(() => (state.isDone = true))
      for (; !state.isDone; state.turns += 1) await hasher.hash('x')
      await end
      return state.turns
    }
    const known = await turnsOf(() => hasher.verify(own, 'U*U', costs))
    expect(await turnsOf(() => hasher.verify(costs[0] ?? '', 'U*U', costs))).toBe(known)
    expect(await turnsOf(() => hasher.verify(costs[1] ?? '', 'U*U', [...costs, own]))).toBe(known)
    expect(await turnsOf(() => hasher.verify('', 'U*U', costs))).toBe(known)
    expect(await turnsOf(() => hasher.verifyNothing('U*U', costs))).toBe(known)
    expect(known).toBeGreaterThan(2)
  })
})
