import { AppError } from '../errors.ts'
import { trimEndOf } from './text.ts'

// Decimals as in Stripe's amounts (docs.stripe.com/currencies). Intl's digits differ for 13 currencies (HUF, IDR, ISK and
// others have none in Intl and two at Stripe), so this code does not use Intl's.
const withoutDecimals = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const withThreeDecimals = new Set('BHD JOD KWD OMR TND'.split(' '))
const withTwoDecimals = new Set(
  (
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
    'CVE CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD KES KGS KHR ' +
    'KYD KZT LAK LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK ' +
    'PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TWD TZS UAH UGX USD UYU ' +
    'UZS WST XCD XCG YER ZAR ZMW'
  ).split(' ')
)

const amountText = /^(\d+)(?:\.(\d+))?$/

/** Whether `code` is an upper-case ISO 4217 code of a currency that Stripe charges in. */
export function isCurrency(code: string): boolean {
  return withTwoDecimals.has(code) || withoutDecimals.has(code) || withThreeDecimals.has(code)
}

/** The number of decimals of a major-unit amount. @throws AppError VALIDATION_FAILED for an unknown currency */
export function currencyDecimals(currency: string): number {
  if (withTwoDecimals.has(currency)) return 2
  if (withoutDecimals.has(currency)) return 0
  if (withThreeDecimals.has(currency)) return 3
  throw refused('The currency is not supported.')
}

/**
 * The minor units of which a charge at Stripe must be a multiple. ISK and UGX have two decimals but are charged in whole
 * units, and the last of three decimals must be 0 (docs.stripe.com/currencies#special-cases).
 *
 * @throws AppError VALIDATION_FAILED for an unknown currency
 */
export function chargeStepMinor(currency: string): number {
  if (currency === 'ISK' || currency === 'UGX') return 100
  return currencyDecimals(currency) === 3 ? 10 : 1
}

/**
 * Converts a major-unit amount to minor units exactly: a number, or decimal text such as `12`, `12.5` or `12.50`. Extra
 * zeros after the currency's decimals are allowed, because shop exports write `500.00` for yen.
 *
 * @throws AppError VALIDATION_FAILED for other extra digits, a sign, an exponent, a thousands separator, an unknown
 *   currency, or an amount above the safe integers
 */
export function toMinor(amount: number | string, currency: string): number {
  const decimals = currencyDecimals(currency)
  const match = amountText.exec(typeof amount === 'number' ? String(amount) : amount)
  if (!match) throw refused('An amount must be zero or more, written as digits with an optional decimal point.')
  const fraction = trimEndOf(match[2] ?? '', '0')
  if (fraction.length > decimals) throw refused(`An amount in ${currency} must have at most ${decimals} decimals.`)
  const minor = Number(`${match[1]}${fraction.padEnd(decimals, '0')}`)
  if (!Number.isSafeInteger(minor)) throw refused('The amount is too large.')
  return minor
}

/** A major-unit amount with any number of decimals in minor units, rounded half away from zero. */
export function roundToMinor(amount: number, currency: string): number {
  const scaled = Math.abs(amount) * 10 ** currencyDecimals(currency)
  // 1.005 is stored as 1.00499…, which must become 1.01.
  return Math.sign(amount) * Math.round(Number(scaled.toPrecision(15)))
}

/** An amount as decimal text with all of the currency's decimals: 1250 EUR → `12.50`, -5 EUR → `-0.05`. */
export function toDecimalText(minor: number, currency: string): string {
  const decimals = currencyDecimals(currency)
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return `${minor < 0 ? '-' : ''}${text}`
}

/** An amount as a major-unit number for JSON: 1250 EUR → 12.5. */
export function toMajor(minor: number, currency: string): number {
  return minor / 10 ** currencyDecimals(currency)
}

/**
 * An amount for display with all of the currency's decimals, in the notation of a language: `€12.50`, and `12,50 €` in
 * German.
 */
export function formatMoney(minor: number, currency: string, language = 'en'): string {
  const known = formats.get(`${language} ${currency}`) ?? formatOf(currency, language)
  return known.format(toMajor(minor, currency))
}

/** Creating one takes 30 times as long as using it, and a list formats an amount in each row. */
const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string, language: string): Intl.NumberFormat {
  const decimals = currencyDecimals(currency)
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const format = new Intl.NumberFormat(language, { style: 'currency', currency, ...digits })
  formats.set(`${language} ${currency}`, format)
  return format
}

/**
 * Divides an amount by weight with the largest-remainder method; the first of equal remainders gets the extra unit. The
 * shares sum to the total exactly, and no share exceeds its weight if the total does not exceed the sum of the weights.
 *
 * @throws RangeError for a total or weight that is not a whole number of zero or more, or if a positive total has no
 *   positive weight
 */
export function shareMinor(totalMinor: number, weights: readonly number[]): number[] {
  const whole = [totalMinor, ...weights].every((value) => Number.isSafeInteger(value) && value >= 0)
  if (!whole) throw new RangeError('The total and the weights must be whole numbers of zero or more.')
  const total = BigInt(totalMinor)
  const sum = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
  if (sum === 0n && total > 0n) throw new RangeError('A positive total needs a positive weight.')
  if (sum === 0n) return weights.map(() => 0)
  const shares = weights.map((weight) => Number((total * BigInt(weight)) / sum))
  const remainder = weights.map((weight) => (total * BigInt(weight)) % sum)
  const left = Number(total - shares.reduce((sum, share) => sum + BigInt(share), 0n))
  const byRemainder = weights.map((_, index) => index).sort((a, b) => compare(remainder[b], remainder[a]) || a - b)
  for (const index of byRemainder.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1
  return shares
}

/** A share of an amount in basis points (1000 = 10 %), rounded half away from zero; exact for every safe integer. */
export function percentOf(minor: number, rateBps: number): number {
  const product = BigInt(Math.abs(minor)) * BigInt(rateBps)
  const rounded = Number((product + 5_000n) / 10_000n)
  return minor < 0 && rounded > 0 ? -rounded : rounded
}

function compare(a: bigint | undefined, b: bigint | undefined): number {
  if (a === undefined || b === undefined || a === b) return 0
  return a < b ? -1 : 1
}

function refused(message: string): AppError {
  return new AppError('VALIDATION_FAILED', message)
}

/**
 * Stripe's minimum charge by currency, in minor units
 * (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
 */
const minimums: Readonly<Record<string, number>> = {
  USD: 50,
  AED: 200,
  AUD: 50,
  BGN: 100,
  BRL: 50,
  CAD: 50,
  CHF: 50,
  CZK: 1500,
  DKK: 250,
  EUR: 50,
  GBP: 30,
  HKD: 400,
  HUF: 17500,
  INR: 50,
  JPY: 50,
  MXN: 1000,
  MYR: 200,
  NOK: 300,
  NZD: 50,
  PLN: 200,
  RON: 200,
  SEK: 300,
  SGD: 50,
  THB: 1000
}

/** The smallest amount that Stripe charges in a currency, in minor units; 1 for a currency without a published minimum. */
export function minimumChargeMinor(currency: string): number {
  return minimums[currency] ?? 1
}

/** Whether an amount is too small to be charged by card. Nothing to pay needs no charge. */
export function isBelowMinimum(amountMinor: number, currency: string): boolean {
  return amountMinor > 0 && amountMinor < minimumChargeMinor(currency)
}
