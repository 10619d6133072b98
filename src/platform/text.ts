import { domainToASCII, domainToUnicode } from 'node:url'

/** What a CSV file begins with, which tells spreadsheets that it is UTF-8. */
export const csvMark = '\uFEFF'

/** The key by which emails, usernames and codes are compared: NFC, trimmed, lower case. */
export function compareKey(text: string): string {
  return toLower(text.normalize('NFC').trim())
}

/** Lower case that does not depend on the letters beside: a sigma has another form at the end of a word. */
function toLower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** The length of a text in Unicode code points. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/**
 * Characters that show nothing, by Unicode's property: marks of direction, soft hyphen, zero-width space, byte order mark,
 * empty letters, and tags (U+E0000). The selectors of emoji and Mongolian letters stay.
 */
const invisible =
  /(?!\u200C|\u200D|[\u180B-\u180D\u180F]|[\uFE00-\uFE0F])(?:\p{Default_Ignorable_Code_Point}|[\uFFF9-\uFFFB])/gu

/**
 * A text without the characters that show nothing. They make two names equal to the eye, turn the words around them, or
 * carry text that only a machine reads. The joiners U+200C and U+200D stay, because Persian, Indic scripts and emoji need them.
 */
export function withoutInvisible(text: string): string {
  return text.replaceAll(invisible, '')
}

/** A URL slug: `Étude in C` becomes `etude-in-c`. Empty if the text has no Latin letter or digit. */
export function slugify(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** The text without the given characters at its end. A pattern such as `/0+$/` takes quadratic time on `000…01`. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** The text without the given characters at its start. */
export function trimStartOf(text: string, characters: string): string {
  let start = 0
  while (start < text.length && characters.includes(text.charAt(start))) start += 1
  return text.slice(start)
}

const domainLetters = /^[\p{L}\p{N}\p{M}.-]+$/u
const asciiDomain =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The ASCII form (UTS #46) of an email's domain: `ſhop.example`, full-width letters and capitals become `shop.example`.
 * Undefined if the text is not a domain name. An `xn--` label must decode to letters that a domain may have;
 * DNS registries do not accept others.
 */
export function emailDomain(domain: string): string | undefined {
  if (domain.length > 253 || !domainLetters.test(domain)) return undefined
  const ascii = domainToASCII(domain)
  if (!asciiDomain.test(ascii)) return undefined
  // Node.js keeps a label in its ASCII form if it does not decode to valid letters.
  return ascii.includes('xn--') && /(^|\.)xn--/.test(domainToUnicode(ascii)) ? undefined : ascii
}

/**
 * The key by which emails are compared and counted: one mailbox has one key, however its address is typed. The domain is
 * in its ASCII form. The local part is lower case and in NFKC, because mail servers that accept full-width or other
 * compatibility letters deliver them to the plain address (RFC 8265, 3.3). Messages always go to the stored email, never
 * to another spelling that a request sends.
 *
 * A text that is not an email, such as a username, gets its compareKey.
 */
export function emailKey(email: string): string {
  const text = email.normalize('NFC').trim()
  const at = text.lastIndexOf('@')
  if (at < 1) return compareKey(text)
  const domain = text.slice(at + 1)
  return `${localKey(text.slice(0, at))}@${emailDomain(domain) ?? domain.toLowerCase()}`
}

/** Some letters decompose only in lower case, so the text is normalised again. */
function localKey(local: string): string {
  return toLower(local.normalize('NFKC')).normalize('NFKC')
}

/**
 * The key of the mailbox that usually receives an email: `mira+shop@x.example` becomes `mira@x.example`. Gmail also ignores
 * dots and has two domains (https://support.google.com/mail/answer/7436150).
 */
export function withoutPlusTag(key: string): string {
  const at = key.lastIndexOf('@')
  const plus = key.indexOf('+')
  const local = plus > 0 && plus < at ? key.slice(0, plus) : key.slice(0, at)
  const domain = key.slice(at)
  if (domain !== '@gmail.com' && domain !== '@googlemail.com') return `${local}${domain}`
  return `${local.replaceAll('.', '')}@gmail.com`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

/** Text as HTML, also inside an attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}
