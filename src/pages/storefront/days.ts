import type { Site } from './site.ts'

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
