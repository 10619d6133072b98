import { randomFillSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isFromFuture } from '../../platform/clock.ts'
import { hmac, sameBytes, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { onceFor } from '../../platform/once-for.ts'

/** Whom a nonce is issued to or sent by; both null for a caller without a live session. */
export type NonceBearer = {
  readonly sessionTokenHash: string | null
  /** SHA-256 of the nonce that came with the login or registration which started the session. */
  readonly startNonceHash: string | null
}

const version = 1
const keyIdBytes = 5
const timeBytes = 6
const randomPartBytes = 16
const headBytes = 1 + keyIdBytes + timeBytes + randomPartBytes
// 60 bytes are 80 characters of base64url without a bit to spare: each text is one nonce, each nonce one text.
const shape = /^[A-Za-z0-9_-]{80}$/
const ttlMs = 12 * 3_600_000

/**
 * A CSRF nonce for the caller, good for 12 hours and as often as it is sent. Nothing of it is stored: it is an HMAC over
 * version, key id, whom it was issued to, time and 128 random bits.
 */
export function issueNonce(keys: Pick<Keys, 'nonce'>, sessionTokenHash: string | null, now: number): string {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version, 0)
  keyId(keys.nonce).copy(head, 1)
  head.writeUIntBE(now, 1 + keyIdBytes, timeBytes)
  randomFillSync(head, 1 + keyIdBytes + timeBytes)
  return Buffer.concat([head, mac(keys.nonce, head, sessionTokenHash)]).toString('base64url')
}

/**
 * Whether a nonce is one of ours, in time, and this caller's. One issued to a session is good for no other and for
 * nobody once the session is over; an anonymous one is good for a session only when it came with the request that
 * started it. Takes the same time for every wrong nonce of the right shape.
 */
export function checkNonce(keys: Pick<Keys, 'nonce'>, nonce: string, bearer: NonceBearer, now: number): boolean {
  if (!shape.test(nonce)) return false
  const bytes = Buffer.from(nonce, 'base64url')
  const head = bytes.subarray(0, headBytes)
  const issuedAt = head.readUIntBE(1 + keyIdBytes, timeBytes)
  const inTime = now - issuedAt < ttlMs && !isFromFuture(issuedAt, now)
  const known = head[0] === version && sameBytes(head.subarray(1, 1 + keyIdBytes), keyId(keys.nonce))
  const own = sameBytes(bytes.subarray(headBytes), mac(keys.nonce, head, bearer.sessionTokenHash))
  return (own || hasStarted(nonce, bearer)) && inTime && known
}

/** It was checked when it was stored, so being the same text is enough. */
function hasStarted(nonce: string, { startNonceHash }: NonceBearer): boolean {
  return startNonceHash !== null && sameBytes(Buffer.from(tokenHash(nonce)), Buffer.from(startNonceHash))
}

/** Tells nonces of another secret apart; says nothing of the key itself. */
const keyId = onceFor((key: KeyObject) => hmac(key, 'key id').subarray(0, keyIdBytes))

function mac(key: KeyObject, head: Buffer, sessionTokenHash: string | null): Buffer {
  return hmac(key, `${head.toString('base64url')}.${sessionTokenHash ?? 'anonymous'}`)
}
