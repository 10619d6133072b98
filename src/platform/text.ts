/** What two emails, usernames or codes are compared by: NFC, trimmed, lower case. The only place that decides it. */
export function compareKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase()
}

/** Length as a person counts it, in code points. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** A name for addresses: `Étude in C` becomes `etude-in-c`; empty when nothing of the text can stay. */
export function slugify(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}
