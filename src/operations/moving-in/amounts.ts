import { roundToMinor } from '../../platform/money.ts'
import { decimalText } from '../../shop/catalog/import/csv-table.ts'

/**
 * An amount of another shop in minor units; undefined for text that is not one. More decimals than the currency has are
 * rounded, as the sums of exports are.
 */
export function parseAmount(stored: string, currency: string): number | undefined {
  const text = decimalText(stored)
  const minor = /^\d{1,13}(?:\.\d+)?$/.test(text) ? roundToMinor(Number(text), currency) : undefined
  return Number.isSafeInteger(minor) ? minor : undefined
}
