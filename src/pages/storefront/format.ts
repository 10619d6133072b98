import type { Site } from './site.ts'

/** An amount in major units as text. */
export function money(
  amount: number,
  { language, currency: own }: Pick<Site, 'language' | 'currency'>,
  currency = own
): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount)
}

/** An amount in minor units as text. */
export function minorMoney(amountMinor: number, site: Site, currency: string): string {
  return money(amountMinor / 10 ** site.decimals, site, currency)
}

/** A percentage such as `12.5 %`. */
export function percent(number: number, { language }: Site): string {
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 4 }).format(number)} %`
}

const styles = {
  long: { dateStyle: 'long' },
  medium: { dateStyle: 'medium' },
  short: { day: 'numeric', month: 'short' }
} as const

/** A day, or the day of a time in UTC, as text. English without a country, as in `en`, would put the month first. */
export function dayText(iso: string, { lang }: Pick<Site, 'lang'>, style: keyof typeof styles = 'long'): string {
  const locale = lang === 'en' ? 'en-GB' : lang
  return new Intl.DateTimeFormat(locale, { ...styles[style], timeZone: 'UTC' }).format(new Date(iso))
}
