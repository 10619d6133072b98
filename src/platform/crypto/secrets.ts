import { createSecretKey, hash, hkdfSync, randomBytes, timingSafeEqual, createHmac } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { syncFolderOf } from '../files.ts'
import { codeOf } from '../typed.ts'

/** A random token as base64url, by default with 256 bits. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** The SHA-256 of a token in hex: the database stores this instead of the token. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** HMAC-SHA256 (RFC 2104) of a text. */
export function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Compares in constant time, so that timing does not show how many bytes match. */
export function sameBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Creates a file with its whole content, unless it exists. A link succeeds for one process only and never shows a partial
 * file. The content is synced to disk first: after a power cut, an empty key file would stop the shop from starting.
 */
function createOnce(file: string, content: string): void {
  const draft = `${file}.${randomToken(6)}`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
    syncFolderOf(file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}

/** Independent keys for separate purposes, derived from the shop's secret. */
export type Keys = {
  nonce: KeyObject
  emailToken: KeyObject
  cursor: KeyObject
  download: KeyObject
  device: KeyObject
  form: KeyObject
  desk: KeyObject
  sandboxWebhook: KeyObject
  /** Hashes what must be recognised after it was erased (db/keyed-hash.ts). */
  erased: KeyObject
  /** Identifies this shop at Stripe; not secret. It survives a restore, because backups contain the secret. */
  shopId: string
}

/** Derives the shop's keys from its secret by HKDF-SHA256. */
export function deriveKeys(secret: string): Keys {
  const bytes = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'shopstead', purpose, 32))
  const derive = (purpose: string): KeyObject => createSecretKey(bytes(purpose))
  return {
    nonce: derive('nonce'),
    emailToken: derive('email-token'),
    cursor: derive('cursor'),
    download: derive('download'),
    device: derive('device'),
    form: derive('form'),
    desk: derive('desk'),
    sandboxWebhook: derive('sandbox-webhook'),
    erased: derive('erased'),
    shopId: bytes('shop-id').toString('hex').slice(0, 16)
  }
}

/**
 * Reads data/secret.key and creates it (mode 0600) if it is missing. When two processes start in an empty folder at the
 * same time, both read the same key.
 *
 * @throws AppError CONFIG_INVALID when the file has fewer than 32 characters
 */
export function loadSecret(dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) createOnce(file, `${randomToken()}\n`)
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < 32) {
    throw new AppError(
      'CONFIG_INVALID',
      `${file} has fewer than 32 characters: restore it from a backup, or delete it to get a new key.`
    )
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  return secret
}
