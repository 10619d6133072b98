import { z } from 'zod'
import { isPageUrl, isWebAddress } from './checks.ts'
import { accountKeys } from './account-keys.ts'
import { creditSources } from './credit-sources.ts'
import { optionalEmails } from './optional-emails.ts'

/** A setting. Each message of `schema` completes the sentence "The value must be …". */
export type Definition<T> = {
  type: 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'limit'
  schema: z.ZodType<T>
  default: T
  about: string
}

/** An amount in major units with two decimals, by default 0. */
export const amount = (about: string): Definition<number> => ({
  type: 'number',
  schema: z.number(rules.amount).min(0, rules.amount).max(1_000_000, rules.amount).multipleOf(0.01, rules.amount),
  default: 0,
  about
})

/** A switch. */
export const flag = (value: boolean, about: string): Definition<boolean> => ({
  type: 'boolean',
  schema: z.boolean('true or false'),
  default: value,
  about
})

/** Text of a length. */
export function upTo(max: number) {
  const rule = `text of at most ${max} characters`
  return z.string(rule).max(max, rule)
}

/** Text, by default of at most 2000 characters. */
export const text = (value: string, about: string, schema: z.ZodType<string> = upTo(2000)): Definition<string> => ({
  type: 'text',
  schema,
  default: value,
  about
})

/** A list whose elements have a schema. */
export const list = <T extends string>(
  value: readonly T[],
  about: string,
  element: z.ZodType<T>,
  rule: string
): Definition<T[]> => ({ type: 'list', schema: z.array(element, rule), default: [...value], about })

/** A list of texts that pass a check. */
export const textList = (
  value: readonly string[],
  about: string,
  isElement: (text: string) => boolean,
  rule: string
): Definition<string[]> => list(value, about, z.string(rule).refine(isElement, rule), rule)

/** A whole number within limits. */
export const integer = (value: number, min: number, max: number, about: string): Definition<number> => {
  const rule = `a whole number from ${min} to ${max}`
  return { type: 'integer', schema: z.int(rule).min(min, rule).max(max, rule), default: value, about }
}

/** A rate limit. */
export const limit = (value: string, about: string): Definition<string> => ({
  type: 'limit',
  schema: z.string().regex(/^(off|[1-9]\d{0,8}\/[1-9]\d{0,7})$/, 'POINTS/SECONDS, for example 10/900, or off'),
  default: value,
  about
})

/** What values must be, in words. */
export const rules = {
  accounts: `a list of KEY=ACCOUNT or KEY=ACCOUNT/TAXKEY, where KEY is domestic-RATE (domestic-19) or one of ${accountKeys.join(', ')}`,
  taxCodes: `a list of KEY=NAME, where KEY is domestic-RATE (domestic-19) or one of ${accountKeys.join(', ')}`,
  yearStart: 'a day of each year as MM-DD, such as 01-01',
  name: 'text of 1 to 100 characters',
  currency: 'a three-letter currency that Stripe supports, such as EUR',
  origins: 'a list of origins such as https://www.example.com',
  country: 'a country as two letters, such as DE, or empty',
  countries: 'a list of countries as two letters, such as DE',
  suffix: 'text of at most 22 characters with a letter or {order}, without < > \\ \' " *',
  configuration: 'the id of a payment method configuration, such as pmc_123',
  trackingUrls: 'a list of CARRIER=URL with an http or https URL that contains {tracking}',
  email: 'an email address, or empty',
  securityContact: 'an email address, an https address, or empty',
  emails: `a list of emails: ${optionalEmails.join(', ')}`,
  colour: 'a colour such as #2f6f8f, or empty',
  address: 'an http or https URL without credentials, or empty',
  vatId: 'a VAT id with its country code, such as DE123456788, or empty',
  header: 'the name of a header, such as CF-IPCountry, or empty',
  day: 'a day as YYYY-MM-DD, or empty',
  timeZone: 'a time zone such as UTC or Europe/Berlin',
  invoicePrefix: 'at most 20 letters, digits, hyphens, dots, slashes or underscores that do not end in CN',
  language: 'a language tag such as en, de or fr-CH',
  languages: 'tags of languages that have texts, such as en, de',
  amount: 'an amount from 0 to 1000000 with at most two decimals',
  customerDays: 'off, a number of days from 1 to 9999, or always',
  precedence: `a list of ${creditSources.join(', ')}, each once`,
  percentage: 'a percentage from 0 to 100 with at most two decimals'
}

/** The address of another page; empty for none. */
export const webAddress = (about: string): Definition<string> =>
  text('', about, upTo(2000).refine(isWebAddress, rules.address))

/** The address of a page with a token in it. */
export const pageUrl = (value: string, placeholder: 'token' | 'orderToken', about: string): Definition<string> => {
  const rule = `an http or https URL with {${placeholder}} behind the host; it can start with {publicUrl}`
  return text(
    value,
    about,
    upTo(2000).refine((template) => isPageUrl(template, placeholder), rule)
  )
}
