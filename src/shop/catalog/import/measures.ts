import { decimalText } from './cells.ts'

const grams: Readonly<Record<string, number>> = {
  g: 1,
  kg: 1000,
  lb: 453.592_37,
  lbs: 453.592_37,
  livre: 453.592_37,
  livres: 453.592_37,
  oz: 28.349_523_125,
  once: 28.349_523_125,
  onces: 28.349_523_125
}
const millimetres: Readonly<Record<string, number>> = { mm: 1, cm: 10, m: 1000, in: 25.4, yd: 914.4 }

/** A weight in whole grams. Undefined for an unknown unit and for a cell that is not a weight; null for an empty cell. */
export function toGrams(cell: string, unit: string): number | null | undefined {
  return convert(cell, grams[unit.trim().toLowerCase()])
}

/** As `toGrams`, a length in whole millimetres. */
export function toMillimetres(cell: string, unit: string): number | null | undefined {
  return convert(cell, millimetres[unit.trim().toLowerCase()])
}

/** The unit in a column name, such as `Weight (kg)`. */
export function unitOf(column: string): string {
  return /\(([^()]*)\)\s*$/.exec(column)?.[1] ?? ''
}

function convert(cell: string, factor: number | undefined): number | null | undefined {
  if (cell === '') return null
  const text = decimalText(cell)
  if (factor === undefined || !/^\d{1,9}(?:\.\d+)?$/.test(text)) return undefined
  return Math.round(Number(text) * factor)
}

/**
 * A GTIN, EAN, UPC or ISBN without spaces, hyphens and the apostrophe of a text in a spreadsheet. Undefined for other text, such as a number that a spreadsheet
 * shortened to `4.00638E+12`.
 */
export function toGtin(cell: string): string | undefined {
  const text = cell.replaceAll(/^'|[\s-]/g, '').toUpperCase()
  return /^(?:\d{8}|\d{12,14}|\d{9}[\dX])$/.test(text) ? text : undefined
}
