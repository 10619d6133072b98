import type { KeyObject } from 'node:crypto'
import { validationFailed } from '../../errors.ts'
import type { AppError } from '../../errors.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'

const idBytes = 8
const macBytes = 16

/**
 * Where the next page begins: the last id shown and an HMAC over it and the affiliate. 24 bytes are 32 characters of
 * base64url to the bit, so that no two texts stand for one cursor.
 *
 * @param key the shop's cursor key
 */
export function sealCursor(key: KeyObject, affiliateId: number, lastId: number): string {
  const id = Buffer.alloc(idBytes)
  id.writeBigUInt64BE(BigInt(lastId))
  return Buffer.concat([id, macOf(key, affiliateId, id)]).toString('base64url')
}

/**
 * The id in a cursor that was sealed for this affiliate. Nobody's (undefined) is refused like a foreign one.
 *
 * @throws AppError VALIDATION_FAILED on `cursor` for anything else
 */
export function openCursor(key: KeyObject, affiliateId: number | undefined, cursor: string): number {
  // Node's decoder skips what is no base64url; a cursor of this alphabet and length has one reading.
  if (!/^[A-Za-z0-9_-]{32}$/.test(cursor)) throw refused()
  const bytes = Buffer.from(cursor, 'base64url')
  const id = bytes.subarray(0, idBytes)
  // Ids begin at 1, so nothing has ever been sealed for 0.
  if (!sameBytes(bytes.subarray(idBytes), macOf(key, affiliateId ?? 0, id))) throw refused()
  return Number(id.readBigUInt64BE())
}

function macOf(key: KeyObject, affiliateId: number, id: Buffer): Buffer {
  return hmac(key, `referrals:${affiliateId}:${id.toString('hex')}`).subarray(0, macBytes)
}

function refused(): AppError {
  return validationFailed({ cursor: ['Is not a cursor that was given for this list.'] })
}
