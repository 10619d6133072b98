import de from './de.ts'
import en from './en.ts'

/** A text, or one for a single thing and one for several. `{name}` stands for a value. */
export type Text = string | { readonly one: string; readonly other: string }

/** The keys of the texts. */
export type TextKey = keyof typeof en

/** Whether there is a text for a value that comes from the API, such as `role.pro`. */
export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(en, key)
}

/** The texts of each language. A language is complete, or it does not compile. */
export const languages = { en, de } as const satisfies Record<string, Readonly<Record<TextKey, Text>>>

export type Language = keyof typeof languages

/** A text with its values in their places. `count` decides between one and several. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts for a language tag such as `de-AT`; `lang` is the language that they have. */
export type Texts = { lang: string; textLanguage: Language; t: Translate }

/** The texts in a language; in English if there are none in that language. */
export function textsIn(tag: string): Texts {
  const [base = ''] = tag.toLowerCase().split('-')
  return isLanguage(base)
    ? { lang: tag, textLanguage: base, t: translator(tag, languages[base]) }
    : { lang: 'en', textLanguage: 'en', t: translator('en', en) }
}

function isLanguage(base: string): base is Language {
  return Object.hasOwn(languages, base)
}

function translator(language: string, texts: Readonly<Record<TextKey, Text>>): Translate {
  const plural = new Intl.PluralRules(language)
  return (key, values = {}) => {
    const text = texts[key]
    const isOne = plural.select(Number(values['count'])) === 'one'
    const chosen = typeof text === 'string' ? text : isOne ? text.one : text.other
    return chosen.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }
}

/** Whose money and numbers these are: the language tag and the currency of a site. */
type Place = { language: string; currency: string }

/** An amount in major units as text. */
export function money(amount: number, { language, currency: own }: Place, currency = own): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount)
}

/** An amount in minor units as text. */
export function minorMoney(amountMinor: number, site: Place & { decimals: number }, currency: string): string {
  return money(amountMinor / 10 ** site.decimals, site, currency)
}

/** A percentage such as `12.5 %`. */
export function percent(number: number, { language }: Pick<Place, 'language'>): string {
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 4 }).format(number)} %`
}

const styles = {
  long: { dateStyle: 'long' },
  medium: { dateStyle: 'medium' },
  short: { day: 'numeric', month: 'short' }
} as const

/** A day, or the day of a time in UTC, as text. English without a country, as in `en`, would put the month first. */
export function dayText(iso: string, { lang }: Pick<Texts, 'lang'>, style: keyof typeof styles = 'long'): string {
  const locale = lang === 'en' ? 'en-GB' : lang
  return new Intl.DateTimeFormat(locale, { ...styles[style], timeZone: 'UTC' }).format(new Date(iso))
}
