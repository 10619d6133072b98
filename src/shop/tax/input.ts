import { z } from 'zod'
import { isCountry, countryName } from '../../platform/postal/countries.ts'
import { postalFormat } from '../../platform/postal/format.ts'
import { nameField } from '../accounts/fields.ts'
import { taxClasses } from '../catalog/tax-classes.ts'
import { regionKey } from './place.ts'

const countryRule = 'Must be a country as two letters, such as DE.'
const classRule = `Must be ${taxClasses.slice(0, -1).join(', ')} or ${taxClasses.at(-1)}.`
const rateRule = 'Must be a percentage from 0 to 100 with at most four decimals.'

const country = z
  .string(countryRule)
  .transform((text) => text.trim().toUpperCase())
  .refine(isCountry, countryRule)
const region = nameField(100).nullish()
const taxClass = z.enum(taxClasses, classRule)

/** A tax rate of a country, or of one of its states or provinces, for a class of products. */
export const taxRateInput = z
  .strictObject({
    country,
    region,
    class: taxClass,
    ratePercent: z.number(rateRule).min(0, rateRule).max(100, rateRule).refine(hasFourDecimals, rateRule),
    name: nameField(50).nullish()
  })
  .transform((rate, context) => {
    const known = postalFormat(rate.country).regions
    const key = regionKey(rate.country, rate.region ?? undefined)
    if (key !== '' && known !== undefined && !known.some(([value]) => value.toUpperCase() === key)) {
      const message = `Must be a state or province of ${countryName(rate.country)}, such as ${known[0]?.[0]}.`
      context.addIssue({ code: 'custom', path: ['region'], message })
    }
    return { ...rate, region: rate.region ?? undefined, name: rate.name ?? undefined }
  })
export type TaxRateInput = {
  country: string
  region?: string | undefined
  class: z.output<typeof taxClass>
  ratePercent: number
  name?: string | undefined
}

/** The tax rates that `tax remove` removes. */
export const taxRemoval = z.strictObject({
  country,
  region: nameField(100).optional(),
  class: taxClass.optional()
})

function hasFourDecimals(percent: number): boolean {
  return Math.abs(percent * 10_000 - Math.round(percent * 10_000)) < 1e-6
}
