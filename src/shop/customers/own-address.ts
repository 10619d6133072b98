import { eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/database.ts'
import { toFieldErrors } from '../../platform/http/validation.ts'
import type { PostalAddress } from '../../platform/postal/address.ts'
import { baseOf } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import { findUserById } from '../accounts/find.ts'
import { users } from '../accounts/schema.ts'
import { addressInput } from '../checkout/address-rules.ts'
import type { TypedAddress } from '../checkout/address-rules.ts'
import { shipToCountries } from '../checkout/shipping.ts'
import { countAccountChange } from '../limits/points.ts'
import type { Limits } from '../limits/points.ts'

/**
 * Stores the address of an account, or removes it with null. The rules are those of a checkout: the countries that the shop
 * ships to, and for each country its parts, states and form of a postcode.
 *
 * @returns the address as it is stored
 * @throws AppError RATE_LIMITED (account_change); VALIDATION_FAILED on `address.<part>`; NOT_AUTHENTICATED when the account was
 *   deactivated or erased in the meantime
 */
export async function changeOwnAddress(
  shop: Limits & { language?: string },
  userId: number,
  typed: TypedAddress | null,
  now: number
): Promise<PostalAddress | null> {
  await countAccountChange(shop, userId)
  return writeWhenFree(shop.db, (tx) => {
    if (findUserById(tx, userId)?.status !== 'active') throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
    const language = baseOf(shop.language ?? 'en') ?? 'en'
    return storeAddress(tx, userId, typed, { now, language })
  })
}

/** Stores the address of an account, or removes it with null. @throws AppError VALIDATION_FAILED on `address.<part>` */
export function storeAddress(
  tx: Tx,
  userId: number,
  typed: TypedAddress | null,
  { now, language = 'en' }: { now: number; language?: Language }
): PostalAddress | null {
  const address = typed === null ? null : parse(typed, shipToCountries(tx), language)
  tx.orm.update(users).set({ address, updatedAt: now }).where(eq(users.id, userId)).run()
  return address
}

function parse(typed: TypedAddress, countries: readonly string[], language: Language): PostalAddress {
  const { data, error } = addressInput(countries, language).safeParse(typed)
  if (error === undefined) return data
  const errors = Object.entries(toFieldErrors(error))
  throw validationFailed(Object.fromEntries(errors.map(([name, messages]) => [`address.${name}`, messages])))
}
