import { euVatRates, isInEu } from '../../platform/vat/eu.ts'
import { setting } from '../../shop/settings/settings.ts'
import { listTaxRates } from '../../shop/tax/rates.ts'
import { ok, warning } from './check.ts'
import type { Check } from './check.ts'

const yearMs = 365 * 24 * 60 * 60_000

/** Whether the shop can compute its taxes, and how old the data behind its rates is. */
export const taxChecks: readonly Check[] = [
  {
    name: 'tax',
    run({ db, clock }) {
      const rates = listTaxRates(db)
      if (rates.length === 0) return ok('There are no tax rates: the shop charges no tax.')
      if (setting(db, 'shop.country') === '')
        return warning(
          'The country of the shop is not set: a cart without an address has no tax.',
          'Run "shopstead settings set shop.country XX" with the two letters of your country.'
        )
      const { source, releasedOn } = euVatRates()
      const isOld = clock.now() - Date.parse(releasedOn) > yearMs
      if (isOld && rates.some(({ country }) => isInEu(country)))
        return warning(
          `The VAT rates of "tax preset eu" are from ${releasedOn} (${source}), over a year ago.`,
          'Check the rates with "shopstead tax list", update Shopstead, and run "shopstead tax preset eu" again.'
        )
      return ok(`${rates.length} rates; those of the EU are known as of ${releasedOn}.`)
    }
  }
]
