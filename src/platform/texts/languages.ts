import { de } from './de/index.ts'
import { en } from './en/index.ts'
import { fr } from './fr/index.ts'

/** A text, or one for a single thing and one for several. `{name}` stands for a value. */
export type Text = string | { readonly one: string; readonly other: string }

/** The keys of the texts. */
export type TextKey = keyof typeof en

/** Whether there is a text for a value that comes from the API, such as `role.pro`. */
export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(en, key)
}

/** The texts of each language. A language is complete, or it does not compile. */
export const languages = { en, de, fr } as const satisfies Record<string, Readonly<Record<TextKey, Text>>>

export type Language = keyof typeof languages

/** A text with its values in their places. `count` decides between one and several. */
export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts for a language tag such as `de-AT`; `lang` is the language that they have. */
export type Texts = { lang: string; textLanguage: Language; t: Translate }

/** Texts that replace those of a language, by key. */
export type Replaced = Partial<Readonly<Record<TextKey, Text>>>

/** The texts in a language; in English if there are none in that language. */
export function textsIn(tag: string, replaced: Partial<Readonly<Record<Language, Replaced>>> = {}): Texts {
  const textLanguage = baseOf(tag) ?? 'en'
  const lang = baseOf(tag) === null ? 'en' : tag
  return { lang, textLanguage, t: translator(lang, languages[textLanguage], replaced[textLanguage]) }
}

/** The language of the texts for a tag: `de` for `de-AT`; null if there are none. */
export function baseOf(tag: string): Language | null {
  const [base = ''] = tag.toLowerCase().split('-')
  return isLanguage(base) ? base : null
}

/** Whether a language has texts. */
export function isLanguage(base: string): base is Language {
  return Object.hasOwn(languages, base)
}

/**
 * The first of the offered languages that a browser accepts, in the order of its Accept-Language header (RFC 9110
 * 12.5.4). `de-AT` accepts an offered `de`, and `de` an offered `de-AT`. Null without a match: the header is missing, or
 * accepts anything.
 */
export function acceptedLanguage(header: string | null, offered: readonly string[]): string | null {
  const wanted = (header ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';')
      const weight = parameters.map((each) => /^\s*q=([\d.]+)/.exec(each)?.[1]).find((each) => each !== undefined)
      return { tag: tag.trim(), weight: Number(weight ?? 1) }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    if (tag === '*') return null
    const [base] = tag.split('-')
    const exact = offered.find((each) => each.toLowerCase() === tag)
    const same = exact ?? offered.find((each) => each.toLowerCase().split('-')[0] === base)
    if (same !== undefined) return same
  }
  return null
}

function translator(language: string, texts: Readonly<Record<TextKey, Text>>, replaced: Replaced = {}): Translate {
  return (key, values = {}) => {
    const text = replaced[key] ?? texts[key]
    const chosen = typeof text === 'string' ? text : text[isOne(language, values['count']) ? 'one' : 'other']
    return chosen.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }
}

function isOne(language: string, count: string | number | undefined): boolean {
  return new Intl.PluralRules(language).select(Number(count)) === 'one'
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

/** The names of taxes that Shopstead gives, which pages show in the language of the buyer. */
const taxNames: Readonly<Record<string, TextKey>> = {
  VAT: 'tax.VAT',
  'Intra-Community supply': 'tax.supply',
  'Reverse charge': 'tax.reverse_charge'
}

/** The name of a tax as buyers read it; an operator's own name stays. */
export function taxName(name: string, { t }: Pick<Texts, 't'>): string {
  const key = taxNames[name]
  return key === undefined ? name : t(key)
}

const styles = {
  long: { dateStyle: 'long' },
  medium: { dateStyle: 'medium' },
  short: { day: 'numeric', month: 'short' }
} as const

/**
 * A day (YYYY-MM-DD), or the day of a time in the shop's time zone, as text. English without a country, as in `en`, would
 * put the month first.
 */
export function dayText(
  iso: string,
  { lang, timeZone }: { lang: string; timeZone: string },
  style: keyof typeof styles = 'long'
): string {
  const locale = lang === 'en' ? 'en-GB' : lang
  const zone = iso.length === 'YYYY-MM-DD'.length ? 'UTC' : timeZone
  return new Intl.DateTimeFormat(locale, { ...styles[style], timeZone: zone }).format(new Date(iso))
}
