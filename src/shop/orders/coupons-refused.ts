import { validationFailed } from '../../errors.ts'
import type { AppError, FieldErrors } from '../../errors.ts'

/** Why an order was refused: codes that did not apply. The limit on guessing codes counts them. */
export class CouponsRefused extends Error {
  override readonly name = 'CouponsRefused'
  readonly count: number

  constructor(count: number) {
    super(`${count} codes did not apply`)
    this.count = count
  }
}

/** The refusal of an order for its codes, each under the field that it came in. */
export function couponsRefused(errors: FieldErrors, message?: string): AppError {
  const refused = validationFailed(errors, message)
  refused.cause = new CouponsRefused(Object.keys(errors).length)
  return refused
}
