import { AppError } from '../../errors.ts'
import type { ErrorDetails } from '../../errors.ts'
import { toMinor } from '../../platform/money.ts'
import { countryCodes, countryName } from '../../platform/postal/countries.ts'
import { choices, findText } from './known-text.ts'
import { baseOf, dayText } from '../../platform/texts/languages.ts'
import { isObject, isRecord } from '../../platform/typed.ts'
import { languageOf, wordsOf } from './language.ts'
import type { Speaker, Words } from './language.ts'
import { setting } from './settings.ts'
import { shopTimeZone } from './shop-days.ts'

/**
 * A sentence of a refusal in the language of whom the shop serves. A sentence that is not among the texts stays as it is:
 * it is for programmers, or in that language already.
 */
export function translate(shop: Speaker, sentence: string): string {
  return isEnglish(shop) ? sentence : (translated(shop, wordsOf(shop), sentence) ?? sentence)
}

/** The details of an error with `fieldErrors` and `problems` in the language of whom the shop serves. */
export function translateDetails(shop: Speaker, details: ErrorDetails): ErrorDetails {
  const { fieldErrors, problems } = details
  if (isEnglish(shop) || (fieldErrors === undefined && problems === undefined)) return details
  return {
    ...details,
    ...(isRecord(fieldErrors) ? { fieldErrors: translateFields(shop, fieldErrors) } : {}),
    ...(Array.isArray(problems) ? { problems: problems.map((each: unknown) => translateProblem(shop, each)) } : {})
  }
}

/** A refusal in the language of whom the shop serves. Its message is `otherwise` if it is not among the texts. */
export function translateError(shop: Speaker, error: AppError, otherwise: string): AppError {
  const message = translated(shop, wordsOf(shop), error.message) ?? otherwise
  const { status, headers, cause } = error
  return new AppError(error.code, message, translateDetails(shop, error.details), { status, headers, cause })
}

/** A problem of a cart with its message in the language of whom the shop serves. */
export function translateProblem<T>(shop: Speaker, problem: T): T {
  if (isEnglish(shop) || !isObject(problem) || typeof problem['message'] !== 'string') return problem
  return { ...problem, message: translate(shop, problem['message']) }
}

function translateFields(shop: Speaker, fields: Record<string, unknown>): Record<string, unknown> {
  const say = (value: unknown): unknown => (typeof value === 'string' ? translate(shop, value) : value)
  return Object.fromEntries(
    Object.entries(fields).map(([path, messages]) => [path, Array.isArray(messages) ? messages.map(say) : messages])
  )
}

function isEnglish(shop: Speaker): boolean {
  return baseOf(languageOf(shop)) === 'en'
}

function translated(shop: Speaker, words: Words, sentence: string): string | undefined {
  const found = findText(sentence)
  if (found === undefined) return undefined
  const values = Object.entries(found.values).map(([name, value]) => [name, valueIn(shop, words, name, value)] as const)
  return words.t(found.key, Object.fromEntries(values))
}

/** A value within a sentence: an amount, a country and a day are written as in the language. */
function valueIn(shop: Speaker, words: Words, name: string, value: string): string {
  switch (name) {
    case 'amount': {
      const currency = setting(shop.db, 'shop.currency')
      return words.money(toMinor(value.replaceAll(/[^\d.]/g, ''), currency), currency)
    }
    case 'country':
      return countryName(countryCodes().find((code) => countryName(code) === value) ?? value, words.textLanguage)
    case 'day':
      return dayText(value, { lang: words.lang, timeZone: shopTimeZone(shop.db) })
    case 'type':
      return translated(shop, words, value) ?? (choices.test(value) ? eitherOf(value, words) : value)
    case 'name':
      return findText(value)?.key === 'say.item' ? (translated(shop, words, value) ?? value) : value
    default:
      return value
  }
}

function eitherOf(listed: string, { lang }: Words): string {
  return new Intl.ListFormat(lang, { type: 'disjunction' }).format(listed.split(/, | or /))
}
