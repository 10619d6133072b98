import type { KeyObject } from 'node:crypto'
import { hmac, sameBytes } from './secrets.ts'

const pattern = /^([1-9]\d{0,14})\.([0-9a-z]{1,11})\.([\w-]{43})$/

/** What a link is about: the id of a row, and when it ends (epoch ms). */
export type SignedLink = { id: number; expiresAt: number }

/**
 * A token that works until a time and needs no row: `id.expiry.signature`. The signature also covers `subject`, which is
 * not in the token: what the link is for, and what must not have changed meanwhile.
 */
export function signLink(key: KeyObject, link: SignedLink, subject: string): string {
  return `${link.id}.${link.expiresAt.toString(36)}.${signatureOf(key, link, subject)}`
}

/** The parts of a token; undefined for a text of another form. Trust it only if `isSigned` says so. */
export function readLink(
  token: string
): (SignedLink & { isSigned(key: KeyObject, subject: string): boolean }) | undefined {
  const [, id = '', expiry = '', signature = ''] = pattern.exec(token) ?? []
  if (signature === '') return undefined
  const link = { id: Number(id), expiresAt: Number.parseInt(expiry, 36) }
  // Compares text, because two spellings of the last character have equal bytes.
  const isSigned = (key: KeyObject, subject: string): boolean =>
    sameBytes(Buffer.from(signature), Buffer.from(signatureOf(key, link, subject)))
  return { ...link, isSigned }
}

function signatureOf(key: KeyObject, { id, expiresAt }: SignedLink, subject: string): string {
  return hmac(key, JSON.stringify([subject, id, expiresAt])).toString('base64url')
}
