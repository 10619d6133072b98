import { site } from './site'

/** An amount in major units as text. */
export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat(site.language, { style: 'currency', currency }).format(amount)
}
