import { AppError } from '../../../errors.ts'
import { toMinor } from '../../../platform/money.ts'
import type { TaxClass } from '../../tax/input.ts'

/**
 * Normalizes a number: a decimal comma becomes a point; currency signs, spaces and the thousands separators of a number
 * with both separators are removed. `1,234` is a decimal number, because exports do not group digits.
 */
export function decimalText(cell: string): string {
  const text = cell.replaceAll(/[\s\p{Sc}]/gu, '')
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(text)) return text.replaceAll('.', '').replace(',', '.')
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(text)) return text.replaceAll(',', '')
  if (/^\d*,\d+$/.test(text)) return decimalText(text.replace(',', '.'))
  return /^\.\d+$/.test(text) ? `0${text}` : text
}

/** Whether `price` is lower than `than`. True for invalid prices, so that the format's own check reports them. */
export function isCheaper(price: string, than: string, currency: string): boolean {
  try {
    return toMinor(price, currency) < toMinor(than, currency)
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}

/** A stock cell as a number; negative stock becomes 0. Other text is returned unchanged, so that the format refuses it. */
export function stockCount(cell: string): number | string {
  return /^-?\d{1,9}(?:\.0+)?$/.test(cell) ? Math.max(0, Number(cell)) : cell
}

/** Whether a cell means yes. An empty cell is neither truthy nor falsy. */
export function isTruthy(cell: string): boolean {
  return /^(?:true|yes|1)$/i.test(cell)
}

/** Whether a cell means no. */
export function isFalsy(cell: string): boolean {
  return /^(?:false|no|0)$/i.test(cell)
}

/** Splits a list cell at commas. WooCommerce escapes a comma within a name with a backslash. */
export function splitList(cell: string): string[] {
  return cell
    .split(/(?<!\\),/)
    .map((entry) => entry.replaceAll('\\,', ',').trim())
    .filter((entry) => entry !== '')
}

/** Words for a reduced tax rate: WooCommerce's classes have names in the shop's language. */
const reduced = /r[eé]du|verlaagd|laag|erm(?:ä|ae?)/i
const zero = /zero|null|nul|cero/i

/** The tax class of the name of one in another program. Undefined for a name that is not known. */
export function toTaxClass(name: string): TaxClass | undefined {
  if (name === '' || /^standard/i.test(name)) return 'standard'
  if (zero.test(name)) return 'zero'
  return reduced.test(name) ? 'reduced' : undefined
}

/** Category cells such as `Clothing > Shirts` as paths, without the category that WooCommerce and Shopify use for none. */
export function categoryPaths(cells: readonly string[]): string[] {
  return cells.map((cell) => cell.split('>').map(trimmed).filter(isCategory).join(' > ')).filter((path) => path !== '')
}

const trimmed = (name: string): string => name.trim()

/** WooCommerce's category for none has a name in the shop's language. */
const noCategory =
  /^(?:uncategori[sz]ed|unkategorisiert|non classé|sin categorizar|sin categoría|geen categorie|ongecategoriseerd|niet gecategoriseerd)$/i

function isCategory(name: string): boolean {
  return name !== '' && !noCategory.test(name.normalize('NFC'))
}
