import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { isInEu, vatCountry } from '../../platform/vat.ts'
import { setting } from '../../shop/settings/settings.ts'

/** Goods or services: returns of the EU keep them apart. */
export type Supply = 'goods' | 'services'

/** @throws AppError CONFLICT for a shop that is not in the EU, with what the report is for */
export function assertInEu(db: Db, what: string): void {
  const country = setting(db, 'shop.country')
  if (isInEu(vatCountry(country))) return
  const is = country === '' ? 'is not set' : `is ${country}`
  throw new AppError('CONFLICT', `${what} for shops in the EU, and shop.country ${is}.`)
}

/**
 * @param portal the authority that takes the file
 * @throws AppError CONFLICT for a file that a German portal does not take: of a shop elsewhere, or with another currency
 */
export function assertForGermany(db: Db, portal: string, rows: readonly { currency: string }[]): void {
  const country = setting(db, 'shop.country')
  if (country !== 'DE')
    throw new AppError(
      'CONFLICT',
      `The file of ${portal} is for shops in Germany, and shop.country is ${country}. Use --csv alone.`
    )
  const foreign = rows.find(({ currency }) => currency !== 'EUR')
  if (foreign !== undefined)
    throw new AppError(
      'CONFLICT',
      `The file of ${portal} is in euros, and there are sales in ${foreign.currency}. Use --csv alone, and convert them.`
    )
}
