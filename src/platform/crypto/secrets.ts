import { hash, hkdfSync, randomFillSync, timingSafeEqual } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { syncFolderOf } from '../disk.ts'
import { onceFor } from '../once-for.ts'

const pool = Buffer.alloc(4096)
let taken = pool.length

/**
 * Random bytes that nobody has had before; drawn in store, since each draw costs what a dozen of them do.
 *
 * @throws RangeError for more than are in store
 */
export function freshBytes(length: number): Buffer {
  if (length > pool.length) throw new RangeError(`There are never more than ${pool.length} random bytes in store.`)
  if (taken + length > pool.length) {
    randomFillSync(pool)
    taken = 0
  }
  taken += length
  // A view would show what the next ones are drawn into.
  return Buffer.from(pool.subarray(taken - length, taken))
}

/** 256 random bits as base64url. */
export function randomToken(bytes = 32): string {
  return freshBytes(bytes).toString('base64url')
}

/** What is stored of a token that only its holder may know. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/**
 * HMAC-SHA256 (RFC 2104) of a text. By two one-shot hashes: Node's createHmac sets up a stream for each use, which costs
 * seven times as much. They answer in hex, which is had faster than a Buffer even where it becomes one.
 */
export function hmac(key: Buffer, text: string): Buffer {
  const { inner, outer } = paddedKey(key)
  const within = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'hex')
  return Buffer.from(hash('sha256', Buffer.concat([outer, Buffer.from(within, 'hex')]), 'hex'), 'hex')
}

const blockBytes = 64

const paddedKey = onceFor((key: Buffer) => {
  const block = Buffer.alloc(blockBytes)
  const short = key.length > blockBytes ? hash('sha256', key, 'buffer') : key
  short.copy(block)
  const padded = (by: number): Buffer => Buffer.from(block.map((byte) => byte ^ by))
  return { inner: padded(0x36), outer: padded(0x5c) }
})

/** Compares without telling by its time how much is right. */
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

/** Keys for separate purposes, drawn from the one secret; none tells anything of another. */
export type Keys = {
  nonce: Buffer
  emailToken: Buffer
  cursor: Buffer
  download: Buffer
  sandboxWebhook: Buffer
  /** Not a secret: names this shop at Stripe, and is the same after a restore, since backups hold the secret. */
  shopId: string
}

export function deriveKeys(secret: string): Keys {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'shopstead', purpose, 32))
  return {
    nonce: derive('nonce'),
    emailToken: derive('email-token'),
    cursor: derive('cursor'),
    download: derive('download'),
    sandboxWebhook: derive('sandbox-webhook'),
    shopId: derive('shop-id').toString('hex').slice(0, 16)
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
