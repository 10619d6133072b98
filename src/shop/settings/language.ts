import type { Config } from '../../platform/config/config.ts'
import type { Db } from '../../platform/db/database.ts'
import { formatMoney } from '../../platform/money.ts'
import { acceptedLanguage, textsIn } from '../../platform/texts/languages.ts'
import type { TextKey, Texts } from '../../platform/texts/languages.ts'
import { definitions } from './definitions.ts'
import { ownTexts } from './own-texts.ts'
import { setting } from './settings.ts'
import { shopTimeZone } from './shop-days.ts'

/** What has a language: a request's shop has that of its buyer, else it is the shop's own. */
export type Speaker = { readonly db: Db; readonly config: Pick<Config, 'dataDir'>; readonly language?: string }

/** The texts of a language with its amounts and times. */
export type Words = Texts & {
  /** An amount in minor units, such as `108,00 €`. */
  money(minor: number, currency: string): string
  /** The day of a time in epoch milliseconds, in the shop's time zone, such as `15. Januar 2026`. */
  day(epochMs: number): string
  /** A time in epoch milliseconds with its zone, such as `15. Januar 2026 um 12:00 UTC`. */
  time(epochMs: number): string
}

/** The shop for a person who reads this language; null for the shop's own. */
export function inLanguage<S extends object>(shop: S, language: string | null): S & { readonly language?: string } {
  return language === null ? shop : { ...shop, language }
}

/** The languages that the shop offers to buyers; the first is its own. */
export function offeredLanguages(db: Db): string[] {
  const own = setting(db, 'storefront.language')
  return [own, ...setting(db, 'shop.languages').filter((tag) => tag !== own)]
}

/**
 * The language of a browser among those that the shop offers, by its Accept-Language header; null without a match. Also null
 * while the settings cannot be read: the request then fails where it needs the database, with the error of its endpoint.
 */
export function browserLanguage(db: Db, header: string | null): string | null {
  try {
    return acceptedLanguage(header, offeredLanguages(db))
  } catch {
    return null
  }
}

/** The language in which the shop speaks to whom it serves. */
export function languageOf({ db, language }: Speaker): string {
  return language ?? setting(db, 'storefront.language')
}

/** The texts, amounts and times in the language of whom the shop serves, with the texts that the operator replaced. */
export function wordsOf(shop: Speaker): Words {
  const texts = textsIn(languageOf(shop), ownTexts(shop.config.dataDir).texts)
  // English without a country would put the month first.
  const locale = texts.lang === 'en' ? 'en-GB' : texts.lang
  const timeZone = shopTimeZone(shop.db)
  const format = (epochMs: number, options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(epochMs)
  return {
    ...texts,
    money: (minor, currency) => formatMoney(minor, currency, texts.lang),
    day: (epochMs) => format(epochMs, { dateStyle: 'long' }),
    time: (epochMs) =>
      `${format(epochMs, { dateStyle: 'long', timeStyle: 'short' })} ${zoneName(locale, timeZone, epochMs)}`
  }
}

/** How to pay by transfer. */
export function manualInstructions(shop: Speaker): string {
  return settingOr(shop, 'payments.manualInstructions', 'mail.manualInstructions')
}

/** How goods are sent back. */
export function returnInstructions(shop: Speaker): string {
  return settingOr(shop, 'returns.instructions', 'mail.return.instructions')
}

/** The operator's text; while the setting has its default, our text in the language. */
function settingOr(
  shop: Speaker,
  key: 'payments.manualInstructions' | 'returns.instructions',
  otherwise: TextKey
): string {
  const text = setting(shop.db, key)
  return text === definitions[key].default ? wordsOf(shop).t(otherwise) : text
}

function zoneName(locale: string, timeZone: string, epochMs: number): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }).formatToParts(epochMs)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}
