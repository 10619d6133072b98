import { z } from 'zod'
import { amount, count, country, line, slug } from '../../platform/input-fields.ts'

const listRule = 'Must be a list of countries as two letters, or "*" for all countries that are in no other zone.'

/**
 * A shipping method, in the shop and in import files: the one definition of its fields.
 *
 * @param currency the shop's; amounts are in it
 */
function shippingMethod(currency: string) {
  return z
    .strictObject({
      /** Unique within its zone. */
      id: slug().refine((id) => id.length <= 100, 'Must have at most 100 characters.'),
      name: line(100),
      amount: amount(currency),
      /** From this sum of the goods after discounts, shipping costs nothing. */
      freeFrom: amount(currency).nullish(),
      /** Added to the amount for each kilogram, in proportion to the weight. */
      perKg: amount(currency).nullish(),
      /** A heavier cart does not have this method. */
      maxWeightGrams: count(1, 10_000_000).nullish(),
      /** Text, such as `2–3 days`. */
      estimate: line(100).nullish(),
      /** The buyer picks the goods up in the shop: no address is needed, and buyers of all countries can choose it. */
      pickup: z.boolean().nullish()
    })
    .transform(({ id, name, ...method }) => ({
      id,
      name,
      amountMinor: method.amount,
      freeFromMinor: method.freeFrom ?? null,
      perKgMinor: method.perKg ?? null,
      maxWeightGrams: method.maxWeightGrams ?? null,
      estimate: method.estimate ?? null,
      pickup: method.pickup ?? false
    }))
}

/**
 * A zone with all its countries and methods. `*` stands for all countries that are in no other zone.
 *
 * @param currency the shop's; amounts are in it
 */
export function shippingZone(currency: string) {
  return z
    .strictObject({
      zone: line(100),
      countries: z.union(
        [z.literal('*'), z.array(country('Must be countries as two letters, such as DE.')).min(1, listRule)],
        listRule
      ),
      methods: z.array(shippingMethod(currency)).min(1, 'Must have a method.').max(20, 'Must have at most 20 methods.')
    })
    .superRefine(({ methods }, context) => {
      const ids = methods.map(({ id }) => id)
      const twice = ids.findIndex((id, index) => ids.indexOf(id) < index)
      if (twice >= 0)
        context.addIssue({ code: 'custom', path: ['methods', twice, 'id'], message: 'Is in the zone more than once.' })
    })
    .transform(({ countries, ...zone }) => ({
      ...zone,
      countries: countries === '*' ? countries : [...new Set(countries)].toSorted()
    }))
}

export type ShippingZone = z.output<ReturnType<typeof shippingZone>>
export type ShippingMethod = ShippingZone['methods'][number]
/** A method as a buyer chose it. An order keeps it when the shop's methods change. */
export const chosenMethod = z.object({
  id: z.string(),
  name: z.string(),
  estimate: z.string().nullable(),
  pickup: z.boolean()
})
export type ChosenMethod = z.output<typeof chosenMethod>
