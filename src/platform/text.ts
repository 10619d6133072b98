/** The key by which emails, usernames and codes are compared: NFC, trimmed, lower case. */
export function compareKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase()
}

/** The length of a text in Unicode code points. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
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
