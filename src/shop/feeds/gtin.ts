/**
 * A GTIN as feeds take it: 8, 12, 13 or 14 digits with a correct check digit. An ISBN-10 becomes an ISBN-13. Null for other
 * text, which market places refuse.
 */
export function feedGtin(code: string): string | null {
  const digits = /^\d{9}[\dX]$/.test(code) ? fromIsbn10(code) : code
  return /^(?:\d{8}|\d{12,14})$/.test(digits) && checkDigit(digits.slice(0, -1)) === digits.at(-1) ? digits : null
}

function fromIsbn10(code: string): string {
  const body = `978${code.slice(0, 9)}`
  return isIsbn10(code) ? `${body}${checkDigit(body)}` : ''
}

/** ISO 2108: the digits, weighted from 10 to 1, add up to a multiple of 11; X stands for 10. */
function isIsbn10(code: string): boolean {
  const sum = Array.from(code, (digit) => (digit === 'X' ? 10 : Number(digit))).reduce(
    (total, value, index) => total + value * (10 - index),
    0
  )
  return sum % 11 === 0
}

/** The check digit by GS1: from the end, the digits count three times and once in turn. */
function checkDigit(body: string): string {
  const sum = Array.from(body)
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1), 0)
  return String((10 - (sum % 10)) % 10)
}
