/** Untrusted text without control characters: it must not move the cursor, change colours or the writing direction. */
export function plain(text: string): string {
  return isAscii(text) ? text : text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}

/** Whether a text has only printable ASCII characters, as most have. */
export function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text)
}
