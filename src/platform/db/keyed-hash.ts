import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type Database from 'better-sqlite3'
import { hmac } from '../crypto/secrets.ts'
import type { Db } from './database.ts'

const keys = new WeakMap<Database.Database, KeyObject>()

/** Sets the key of `keyedHash` for a connection. It comes from the shop's secret, which is not in the database. */
export function setHashKey({ sqlite }: Db, key: KeyObject): void {
  keys.set(sqlite, key)
}

/**
 * Recognises an erased email or code without storing it: an HMAC, which cannot be searched without the shop's secret. A
 * connection without a key gets a random one, so that its hashes match nothing.
 *
 * @param purpose separates the hashes of an email from those of other texts, and from the codes of gift cards
 */
export function keyedHash({ sqlite }: Db, purpose: 'mailbox' | 'affiliate code' | 'gift card', text: string): string {
  const key = keys.get(sqlite) ?? createSecretKey(randomBytes(32))
  keys.set(sqlite, key)
  return hmac(key, `${purpose}:${text}`).subarray(0, 16).toString('hex')
}
