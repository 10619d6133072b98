import { AppError } from '../errors.ts'

// Decimals as Stripe counts them in an amount (docs.stripe.com/currencies). Intl's digits differ for 13 currencies
// (HUF, IDR, ISK and others have none there and two here), so Intl is never asked how many a currency has.
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

/** How many decimals a major-unit amount of the currency has; throws VALIDATION_FAILED for an unknown currency. */
export function currencyDecimals(currency: string): number {
  if (withTwoDecimals.has(currency)) return 2
  if (withoutDecimals.has(currency)) return 0
  if (withThreeDecimals.has(currency)) return 3
  throw refused('The currency is not known.')
}

/**
 * The step, in minor units, that an amount sent to Stripe must be a multiple of: ISK and UGX are counted with two
 * decimals but charged in whole units, and currencies of three decimals end in 0
 * (docs.stripe.com/currencies#special-cases).
 */
export function chargeStepMinor(currency: string): number {
  if (currency === 'ISK' || currency === 'UGX') return 100
  return currencyDecimals(currency) === 3 ? 10 : 1
}

/**
 * Reads a major-unit amount, exactly: a number, or decimal text such as `12`, `12.5` or `12.50`. Zeros past the
 * currency's decimals are harmless (shop exports write `500.00` for yen); any other digit there is refused, and so are
 * a sign, an exponent, a thousands separator, and what is past the safe integers. Throws VALIDATION_FAILED.
 */
export function toMinor(amount: number | string, currency: string): number {
  const decimals = currencyDecimals(currency)
  const match = amountText.exec(typeof amount === 'number' ? String(amount) : amount)
  if (!match) throw refused('An amount is a number of zero or more, written as plain digits with a point.')
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) throw refused(`An amount in ${currency} has at most ${decimals} decimals.`)
  const minor = Number(`${match[1]}${fraction.padEnd(decimals, '0')}`)
  if (!Number.isSafeInteger(minor)) throw refused('The amount is too large.')
  return minor
}

/** Decimal text of an amount with all of the currency's decimals: 1250 EUR → `12.50`, -5 → `-0.05`. */
export function toDecimalText(minor: number, currency: string): string {
  const decimals = currencyDecimals(currency)
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return `${minor < 0 ? '-' : ''}${text}`
}

/** The major-unit number that JSON carries: 1250 EUR → 12.5. */
export function toMajor(minor: number, currency: string): number {
  return minor / 10 ** currencyDecimals(currency)
}

/** The amount for people, in English notation with all of the currency's decimals: `€12.50`. */
export function formatMoney(minor: number, currency: string): string {
  const decimals = currencyDecimals(currency)
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals
  }).format(toMajor(minor, currency))
}

/**
 * Shares an amount out by weight, by largest remainder (the first of equals wins): the parts sum to the total exactly,
 * and none exceeds its weight as long as the total does not exceed the weights' sum. All are whole and not negative;
 * an amount with nothing to weigh it by is the caller's mistake and throws a RangeError.
 */
export function shareMinor(totalMinor: number, weights: readonly number[]): number[] {
  const whole = [totalMinor, ...weights].every((value) => Number.isSafeInteger(value) && value >= 0)
  if (!whole) throw new RangeError('Shares are taken of whole amounts of zero or more.')
  const total = BigInt(totalMinor)
  const sum = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
  if (sum === 0n && total > 0n) throw new RangeError('An amount needs weights to be shared by.')
  if (sum === 0n) return weights.map(() => 0)
  const shares = weights.map((weight) => Number((total * BigInt(weight)) / sum))
  const remainder = weights.map((weight) => (total * BigInt(weight)) % sum)
  const left = Number(total - shares.reduce((given, share) => given + BigInt(share), 0n))
  const byRemainder = weights.map((_, index) => index).sort((a, b) => compare(remainder[b], remainder[a]) || a - b)
  for (const index of byRemainder.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1
  return shares
}

/** A rate in basis points (1000 = 10 percent) of an amount, halves away from zero; exact for every safe integer. */
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
