import type { Site } from './site.ts'

/** An amount in major units as text. */
export function money(amount: number, { language, currency }: Pick<Site, 'language' | 'currency'>): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount)
}
