import { createHmac, createSecretKey, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { syncFolderOf } from '../disk.ts'

/** 256 random bits as base64url. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** What is stored of a token that only its holder may know. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** HMAC-SHA256 of a text. The key is a KeyObject: from a Buffer, Node would prepare the key again for each call. */
export function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Compares in constant time. */
export function sameBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * A link is made whole or not at all, and by one process only; a plain write could be read half done. It is on the disk
 * before anything is made with it: a power cut that left an empty key would keep the shop from starting.
 */
function createOnce(file: string, content: string): void {
  const draft = `${file}.${randomToken(6)}`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
    syncFolderOf(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}

/** One key for each purpose, derived from the one secret; no key reveals anything about another. */
export type Keys = {
  nonce: KeyObject
  emailToken: KeyObject
  cursor: KeyObject
  download: KeyObject
  sandboxWebhook: KeyObject
  /** Not a secret: names this shop at Stripe, and is the same after a restore, since backups hold the secret. */
  shopId: string
}

export function deriveKeys(secret: string): Keys {
  const bytes = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'shopstead', purpose, 32))
  const derive = (purpose: string): KeyObject => createSecretKey(bytes(purpose))
  return {
    nonce: derive('nonce'),
    emailToken: derive('email-token'),
    cursor: derive('cursor'),
    download: derive('download'),
    sandboxWebhook: derive('sandbox-webhook'),
    shopId: bytes('shop-id').toString('hex').slice(0, 16)
  }
}

/**
 * Reads data/secret.key, making it (mode 0600) when there is none. Of two processes that start at once on an empty
 * folder one makes the file and both read the same.
 *
 * @throws AppError CONFIG_INVALID when the file holds fewer than 32 characters.
 */
export function loadSecret(dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) createOnce(file, `${randomToken()}\n`)
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < 32) {
    throw new AppError(
      'CONFIG_INVALID',
      `${file} holds fewer than 32 characters: restore it from a backup or remove it.`
    )
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  return secret
}
