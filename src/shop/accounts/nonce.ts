import { randomFillSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isFromFuture } from '../../platform/clock.ts'
import { hmac, sameBytes, tokenHash } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { onceFor } from '../../platform/once-for.ts'

/** The client that receives or sends a nonce; both null without a valid session. */
export type NonceBearer = {
  readonly sessionTokenHash: string | null
  /** SHA-256 of the nonce of the login or registration that started the session. */
  readonly startNonceHash: string | null
}

const version = 1
const keyIdBytes = 5
const timeBytes = 6
const randomPartBytes = 16
const headBytes = 1 + keyIdBytes + timeBytes + randomPartBytes
// 60 bytes are exactly 80 characters of base64url, so every nonce has one spelling.
const shape = /^[A-Za-z0-9_-]{80}$/
const ttlMs = 12 * 3_600_000

/**
 * A CSRF nonce for the caller, valid for 12 hours and any number of requests. It is not stored: it is an HMAC over
 * version, key id, session, time and 128 random bits.
 */
export function issueNonce(keys: Pick<Keys, 'nonce'>, sessionTokenHash: string | null, now: number): string {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version, 0)
  keyId(keys.nonce).copy(head, 1)
  head.writeUIntBE(now, 1 + keyIdBytes, timeBytes)
  randomFillSync(head.subarray(1 + keyIdBytes + timeBytes))
  return Buffer.concat([head, mac(keys.nonce, head, sessionTokenHash)]).toString('base64url')
}

/**
 * Whether a nonce is authentic, not expired, and issued to this caller. A nonce of a session is valid only for that
 * session, until it ends. An anonymous nonce is valid for a session only if the request that started the session sent
 * it. The check takes the same time for every wrong nonce of the right shape.
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

/** The nonce was checked before its hash was stored, so comparing the hash is enough. */
function hasStarted(nonce: string, { startNonceHash }: NonceBearer): boolean {
  return startNonceHash !== null && sameBytes(Buffer.from(tokenHash(nonce)), Buffer.from(startNonceHash))
}

/** Identifies the secret of a nonce without revealing it. */
const keyId = onceFor((key: KeyObject) => hmac(key, 'key id').subarray(0, keyIdBytes))

function mac(key: KeyObject, head: Buffer, sessionTokenHash: string | null): Buffer {
  return hmac(key, `${head.toString('base64url')}.${sessionTokenHash ?? 'anonymous'}`)
}
