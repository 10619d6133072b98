import { AppError } from '../../../errors.ts'
import { toMinor } from '../../../platform/money.ts'

/** A price as shop programs write it: no thousands separators, a decimal comma where the shop's language has one. */
export function decimalText(cell: string): string {
  if (/^\d+,\d+$/.test(cell)) return cell.replace(',', '.')
  return /^\.\d+$/.test(cell) ? `0${cell}` : cell
}

/** Whether the first price is lower than the second; prices that cannot be read are left for the format to refuse. */
export function isCheaper(price: string, than: string, currency: string): boolean {
  try {
    return toMinor(price, currency) < toMinor(than, currency)
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}

/** A stock cell as a number; sold below zero is none. Text that is no whole number goes through, to be refused. */
export function stockCount(cell: string): number | string {
  return /^-?\d{1,9}(?:\.0+)?$/.test(cell) ? Math.max(0, Number(cell)) : cell
}

export function isTruthy(cell: string): boolean {
  return /^(?:true|yes|1)$/i.test(cell)
}

export function isFalsy(cell: string): boolean {
  return /^(?:false|no|0)$/i.test(cell)
}

/** The entries of a list cell: parted by commas, of which WooCommerce escapes those within a name by a backslash. */
export function splitList(cell: string): string[] {
  return cell
    .split(/(?<!\\),/)
    .map((entry) => entry.replaceAll('\\,', ',').trim())
    .filter((entry) => entry !== '')
}

/** `Clothing > Shirts` names two categories: a product in the inner one is found under the outer one too. */
export function splitCategories(cells: readonly string[]): string[] {
  return cells.flatMap((cell) => cell.split('>').map((name) => name.trim())).filter((name) => name !== '')
}
