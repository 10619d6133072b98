import { z } from 'zod'
import { isCountry } from '../../../platform/postal/countries.ts'
import { amount, count, line, slug } from './fields.ts'
import type { ShippingMethodInput, ShippingZoneInput } from './format.ts'

const countryRule = 'Must be countries as two letters, such as DE.'
const listRule = 'Must be a list of countries as two letters, or "*" for all countries that are in no other zone.'

const country = z
  .string(countryRule)
  .transform((code) => code.trim().toUpperCase())
  .refine(isCountry, countryRule)

/**
 * The schema of a shipping zone in an import file.
 *
 * @param currency the shop's; amounts are in it
 */
export function shippingZone(currency: string) {
  return z
    .strictObject({
      zone: line(100),
      countries: z.union([z.literal('*'), z.array(country).min(1, listRule)], listRule),
      methods: z.array(shippingMethod(currency)).min(1, 'Must have a method.').max(20, 'Must have at most 20 methods.')
    })
    .transform(({ zone, countries, methods }, context): ShippingZoneInput => {
      const ids = methods.map(({ id }) => id)
      const twice = ids.findIndex((id, index) => ids.indexOf(id) < index)
      if (twice >= 0)
        context.addIssue({ code: 'custom', path: ['methods', twice, 'id'], message: 'Is in the zone more than once.' })
      return { zone, countries: countries === '*' ? '*' : [...new Set(countries)].toSorted(), methods }
    })
}

function shippingMethod(currency: string) {
  return z
    .strictObject({
      id: slug().refine((id) => id.length <= 100, 'Must have at most 100 characters.'),
      name: line(100),
      amount: amount(currency),
      freeFrom: amount(currency).nullish(),
      perKg: amount(currency).nullish(),
      maxWeightGrams: count(1, 10_000_000).nullish(),
      estimate: line(100).nullish()
    })
    .transform(({ id, name, ...method }): ShippingMethodInput => ({
      id,
      name,
      amountMinor: method.amount,
      freeFromMinor: method.freeFrom ?? null,
      perKgMinor: method.perKg ?? null,
      maxWeightGrams: method.maxWeightGrams ?? null,
      estimate: method.estimate ?? null
    }))
}
