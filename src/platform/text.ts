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
    .replaceAll(/^-+|-+$/g, '')
}
