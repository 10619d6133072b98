import { validationFailed } from '../../errors.ts'
import type { AppError, FieldErrors } from '../../errors.ts'

/** The cause of an order that was refused because of its codes. The limit on guessing codes counts them. */
export class CouponsRefused extends Error {
  override readonly name = 'CouponsRefused'
  readonly count: number

  constructor(count: number) {
    super(`${count} codes did not apply`)
    this.count = count
  }
}

/** The error for an order whose codes do not apply, with a message for each field of the request. */
export function couponsRefused(errors: FieldErrors, message?: string): AppError {
  const refused = validationFailed(errors, message)
  refused.cause = new CouponsRefused(Object.keys(errors).length)
  return refused
}
