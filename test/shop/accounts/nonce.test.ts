import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hmac, deriveKeys, tokenHash } from '../../../src/platform/crypto/secrets.ts'
import { checkNonce, issueNonce } from '../../../src/shop/accounts/nonce.ts'

const keys = deriveKeys('a secret for tests, of forty characters.')
const withoutSession = { sessionTokenHash: null, startNonceHash: null }
const now = Date.UTC(2026, 0, 15)
const hours = 3_600_000
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const sessionOf = (name: string) => ({ sessionTokenHash: tokenHash(name), startNonceHash: null })

describe('a nonce', () => {
  it('is good for whom it was issued to, as often as it is sent', () => {
    const anonymous = issueNonce(keys, null, now)
    const bound = issueNonce(keys, tokenHash('a'), now)
    for (const at of [now, now + 11 * hours]) {
      expect(checkNonce(keys, anonymous, withoutSession, at)).toBe(true)
      expect(checkNonce(keys, bound, sessionOf('a'), at)).toBe(true)
    }
  })

  it('is never the same twice', () => {
    expect(issueNonce(keys, null, now)).not.toBe(issueNonce(keys, null, now))
  })

  it('ends after 12 hours and does not come from the future', () => {
    const nonce = issueNonce(keys, null, now)
    expect(checkNonce(keys, nonce, withoutSession, now + 12 * hours - 1)).toBe(true)
    expect(checkNonce(keys, nonce, withoutSession, now + 12 * hours)).toBe(false)
    expect(checkNonce(keys, nonce, withoutSession, now - hours)).toBe(false)
  })

  it('bears a clock that was set back by five minutes, and no more', () => {
    const nonce = issueNonce(keys, null, now)
    expect(checkNonce(keys, nonce, withoutSession, now - 5 * 60_000)).toBe(true)
    expect(checkNonce(keys, nonce, withoutSession, now - 5 * 60_000 - 1)).toBe(false)
  })

  it('is 60 bytes: version, key id, time, 128 random bits and a MAC over whom it is for', () => {
    for (const sessionTokenHash of [null, tokenHash('a')]) {
      const bytes = Buffer.from(issueNonce(keys, sessionTokenHash, now), 'base64url')
      const head = bytes.subarray(0, 28)
      expect(bytes).toHaveLength(60)
      expect(head[0]).toBe(1)
      expect(head.subarray(1, 6)).toEqual(hmac(keys.nonce, 'key id').subarray(0, 5))
      expect(head.readUIntBE(6, 6)).toBe(now)
      expect(bytes.subarray(28)).toEqual(
        hmac(keys.nonce, `${head.toString('base64url')}.${sessionTokenHash ?? 'anonymous'}`)
      )
    }
  })

  it.each(['version', 'key id'])('of another %s is none, though its MAC be right', (part) => {
    const bytes = Buffer.from(issueNonce(keys, null, now), 'base64url')
    const at = part === 'version' ? 0 : 5
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    const head = bytes.subarray(0, 28)
    const forged = Buffer.concat([head, hmac(keys.nonce, `${head.toString('base64url')}.anonymous`)])
    expect(checkNonce(keys, forged.toString('base64url'), withoutSession, now)).toBe(false)
  })

  it('is nothing but its 80 characters, even where the rest was started with', () => {
    const nonce = issueNonce(keys, null, now)
    for (const text of [`${nonce}A`, `A${nonce}`, `${nonce} `, ` ${nonce}`]) {
      const started = { sessionTokenHash: null, startNonceHash: tokenHash(text) }
      expect(checkNonce(keys, text, started, now)).toBe(false)
    }
  })

  it('of a session is invalid for other sessions, and after the session has ended', () => {
    const nonce = issueNonce(keys, tokenHash('a'), now)
    expect(checkNonce(keys, nonce, sessionOf('b'), now)).toBe(false)
    expect(checkNonce(keys, nonce, withoutSession, now)).toBe(false)
  })

  it('without a session is valid for a session only if the session was started with it', () => {
    const nonce = issueNonce(keys, null, now)
    const started = { sessionTokenHash: tokenHash('a'), startNonceHash: tokenHash(nonce) }
    expect(checkNonce(keys, nonce, sessionOf('a'), now)).toBe(false)
    expect(checkNonce(keys, nonce, started, now)).toBe(true)
    expect(checkNonce(keys, issueNonce(keys, null, now), started, now)).toBe(false)
    expect(checkNonce(keys, nonce, started, now + 12 * hours)).toBe(false)
  })

  it('of another secret is none', () => {
    const other = deriveKeys('another secret, also of forty characters')
    expect(checkNonce(keys, issueNonce(other, null, now), withoutSession, now)).toBe(false)
  })

  it('with any one bit flipped is none', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.integer({ min: 0, max: 2 ** 40 }), (bound, at) => {
        const bearer = bound ? sessionOf('a') : withoutSession
        const nonce = issueNonce(keys, bearer.sessionTokenHash, at)
        const bytes = Buffer.from(nonce, 'base64url')
        for (let bit = 0; bit < bytes.length * 8; bit += 1) {
          const flipped = Buffer.from(bytes)
          flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
          expect(checkNonce(keys, flipped.toString('base64url'), bearer, at)).toBe(false)
        }
      }),
      { numRuns: 20 }
    )
  })

  it('with any one of its characters changed, unused bits included, is none', () => {
    const nonce = issueNonce(keys, null, now)
    for (let at = 0; at < nonce.length; at += 1) {
      for (const other of alphabet) {
        if (other === nonce[at]) continue
        expect(checkNonce(keys, nonce.slice(0, at) + other + nonce.slice(at + 1), withoutSession, now)).toBe(false)
      }
    }
  })

  it('has one way to be written', () => {
    const nonce = issueNonce(keys, null, now)
    const standard = Buffer.from(nonce, 'base64url').toString('base64')
    const others = [`${nonce}=`, `${nonce}A`, ` ${nonce}`, `${nonce}\n`, nonce.slice(1), '', nonce.repeat(2)]
    for (const text of standard === nonce ? others : [...others, standard]) {
      expect(checkNonce(keys, text, withoutSession, now)).toBe(false)
    }
  })

  it('is not found in any other text', () => {
    const isNone = (text: string) => {
      expect(checkNonce(keys, text, withoutSession, now)).toBe(false)
    }
    fc.assert(fc.property(fc.string({ maxLength: 120 }), isNone))
  })
})
