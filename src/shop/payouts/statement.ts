import type { Db } from '../../platform/db/database.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import { getUserById } from '../accounts/find.ts'
import { toProfile } from '../accounts/view.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { setting } from '../settings/settings.ts'

/** Who pays whom, as the statement of a payout names them. It is stored with the payout: a statement never changes. */
export function partiesOf(db: Db, affiliateId: number): Pick<PayoutRow, 'seller' | 'payee'> {
  const { code, userId } = getAffiliateById(db, affiliateId)
  const user = getUserById(db, userId)
  const { firstName: _first, lastName: _last, company, ...place } = user.address ?? {}
  const language = textsIn(user.language ?? setting(db, 'storefront.language')).textLanguage
  const { firstName, lastName } = toProfile(db, user)
  const name = `${firstName ?? ''} ${lastName ?? ''}`.trim()
  const lines = [
    name === '' ? user.displayName : name,
    user.companyName ?? company ?? '',
    ...postalLines(place, language)
  ]
  return {
    seller: { name: setting(db, 'shop.name'), legal: setting(db, 'shop.legal') },
    // A line break would let the affiliate write lines of their own.
    payee: { code, lines: lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()).filter((line) => line !== '') }
  }
}
