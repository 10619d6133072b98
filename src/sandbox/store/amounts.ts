import { minimumChargeMinor, formatMoney, isCurrency, chargeStepMinor } from '../../platform/money.ts'
import type { Context } from '../http/context.ts'
import { badParameter, badState } from '../http/errors.ts'
import type { Param } from '../http/params.ts'
import { text } from '../http/params.ts'

const maximumMinor = 99_999_999

/** A parameter with an ISO 4217 code in upper or lower case, which is read as lower case. */
export function currency(): Param<string> {
  const plain = text({ max: 10 })
  return {
    read: (raw, path) => {
      const value = plain.read(raw, path).toLowerCase()
      if (!isCurrency(value.toUpperCase())) throw badParameter(`Invalid currency: ${value}`, { param: path })
      return value
    }
  }
}

/**
 * Checks that Stripe would charge an amount; `code` is the currency in lower case, `param` the parameter to blame.
 *
 * @throws StripeRefusal amount_too_small, amount_too_large, invalid_charge_amount
 */
export function checkAmount(context: Context, amountMinor: number, code: string, param: string): void {
  const minimumMinor = minimumChargeMinor(code.toUpperCase())
  if (context.minimumAmounts && amountMinor < minimumMinor) {
    const message = `Amount must be at least ${formatMoney(minimumMinor, code.toUpperCase())} ${code}`
    throw badState(message, { code: 'amount_too_small', param })
  }
  if (amountMinor > maximumMinor) {
    const message = `Amount must be no more than ${formatMoney(maximumMinor, code.toUpperCase())} ${code}`
    throw badState(message, { code: 'amount_too_large', param })
  }
  const step = chargeStepMinor(code.toUpperCase())
  if (amountMinor % step !== 0) {
    throw badState(`Amount in ${code} must be a multiple of ${step}.`, { code: 'invalid_charge_amount', param })
  }
}
