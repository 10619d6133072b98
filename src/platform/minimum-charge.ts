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
