import { AppError } from '../../../errors.ts'
import { toMinor } from '../../../platform/money.ts'

/** Normalizes a price cell: a decimal comma becomes a point. Exports have no thousands separators. */
export function decimalText(cell: string): string {
  if (/^\d+,\d+$/.test(cell)) return cell.replace(',', '.')
  return /^\.\d+$/.test(cell) ? `0${cell}` : cell
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

/** Category cells such as `Clothing > Shirts` as paths, without the category that WooCommerce and Shopify use for none. */
export function categoryPaths(cells: readonly string[]): string[] {
  return cells.map((cell) => cell.split('>').map(trimmed).filter(isCategory).join(' > ')).filter((path) => path !== '')
}

const trimmed = (name: string): string => name.trim()

function isCategory(name: string): boolean {
  return name !== '' && name.toLowerCase() !== 'uncategorized'
}
