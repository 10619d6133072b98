import type { KeyObject } from 'node:crypto'
import { validationFailed } from '../../errors.ts'
import type { AppError } from '../../errors.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'

const idBytes = 8
const macBytes = 16

/**
 * Makes the cursor of the next page: the last id of this page and an HMAC over it and the affiliate. The 24 bytes fill
 * exactly 32 characters of base64url, so that a cursor has only one encoding.
 *
 * @param key the shop's cursor key
 */
export function sealCursor(key: KeyObject, affiliateId: number, lastId: number): string {
  const id = Buffer.alloc(idBytes)
  id.writeBigUInt64BE(BigInt(lastId))
  return Buffer.concat([id, macOf(key, affiliateId, id)]).toString('base64url')
}

/**
 * Verifies a cursor of this affiliate and returns the id in it. Without an affiliate (undefined) every cursor is refused.
 *
 * @throws AppError VALIDATION_FAILED on `cursor`
 */
export function openCursor(key: KeyObject, affiliateId: number | undefined, cursor: string): number {
  // Node's decoder ignores other characters, so the alphabet and the length are checked first.
  if (!/^[A-Za-z0-9_-]{32}$/.test(cursor)) throw refused()
  const bytes = Buffer.from(cursor, 'base64url')
  const id = bytes.subarray(0, idBytes)
  // Ids start at 1, so no cursor is valid for affiliate 0.
  if (!sameBytes(bytes.subarray(idBytes), macOf(key, affiliateId ?? 0, id))) throw refused()
  return Number(id.readBigUInt64BE())
}

function macOf(key: KeyObject, affiliateId: number, id: Buffer): Buffer {
  return hmac(key, `referrals:${affiliateId}:${id.toString('hex')}`).subarray(0, macBytes)
}

function refused(): AppError {
  return validationFailed({ cursor: ['Must be the nextCursor of an earlier page of this list.'] })
}
