import { and, asc, eq } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { euVatRates, isInEu, vatCountry } from '../../platform/vat.ts'
import { countOutcomes } from '../catalog/changes.ts'
import type { Counts } from '../catalog/changes.ts'
import type { TaxRateInput, TaxClass } from './input.ts'
import { setSetting, setting } from '../settings/settings.ts'
import { taxRates } from './schema.ts'

/** A tax rate for people and files; `region` is missing for the rate of a whole country. */
export type TaxRateView = { country: string; region?: string; class: TaxClass; ratePercent: number; name: string }

function toTaxRate({ country, region, rateMillionths, name, class: taxClass }: TaxRateRow): TaxRateView {
  const where = region === '' ? {} : { region }
  return { country, ...where, class: taxClass, ratePercent: rateMillionths / 10_000, name }
}

/** All tax rates by country, with the rates of the whole country first. */
export function listTaxRates(db: Db): TaxRateView[] {
  const order = [asc(taxRates.country), asc(taxRates.region), asc(taxRates.class)]
  return db.orm
    .select()
    .from(taxRates)
    .orderBy(...order)
    .all()
    .map(toTaxRate)
}

/** Stores a tax rate, in place of the one that the place has for the class. Orders keep the rates that they have. */
export function setTaxRate(db: Db, input: TaxRateInput): TaxRateView {
  return write(db, (tx) => toTaxRate(store(tx, input)))
}

/** Stores the tax rates of a file. Other rates stay. */
export function applyTaxRates(tx: Tx, inputs: readonly TaxRateInput[]): Counts {
  const known = new Map(listTaxRates(tx).map((rate) => [keyOf(rate), rate]))
  return countOutcomes(
    inputs.map((input) => {
      const stored = toTaxRate(store(tx, input))
      const before = known.get(keyOf(stored))
      if (before === undefined) return 'created'
      return before.ratePercent === stored.ratePercent && before.name === stored.name ? 'unchanged' : 'updated'
    })
  )
}

const keyOf = ({ country, region = '', class: taxClass }: TaxRateView): string => `${country}/${region}/${taxClass}`

function store(tx: Tx, { country, region, class: taxClass, rateMillionths, name }: TaxRateInput): TaxRateRow {
  const values = { name: name ?? defaultName(country), rateMillionths }
  return tx.orm
    .insert(taxRates)
    .values({ country, region, class: taxClass, ...values })
    .onConflictDoUpdate({ target: [taxRates.country, taxRates.region, taxRates.class], set: values })
    .returning()
    .get()
}

type Removal = { country: string; region?: string | undefined; class?: TaxClass | undefined }

/**
 * Removes the rates of a country or of one of its regions: all of them, or the one of a class.
 *
 * @returns the rates that were removed
 * @throws AppError NOT_FOUND if there are none
 */
export function removeTaxRates(db: Db, { country, region, class: taxClass }: Removal): TaxRateView[] {
  const chosen = and(
    eq(taxRates.country, country),
    region === undefined ? undefined : eq(taxRates.region, region),
    taxClass === undefined ? undefined : eq(taxRates.class, taxClass)
  )
  const rows = write(db, (tx) => tx.orm.delete(taxRates).where(chosen).returning().all())
  if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no such tax rate for ${countryName(country)}.`)
  return rows.map(toTaxRate)
}

/** What `presetEu` did, and how old its data is. */
export type EuPreset = { rates: TaxRateView[]; source: string; releasedOn: string }

/**
 * Stores the standard VAT rate of each member state of the EU. Other rates stay. With `ownRate`, consumers in the other
 * member states pay the rates of the shop's country (`tax.crossBorder`), for a small shop that sells across borders below
 * the threshold of the EU; without it, those of their own.
 *
 * @throws AppError CONFLICT with `ownRate` if the shop's country is not in the EU
 */
export function presetEu(db: Db, { ownRate }: { ownRate: boolean }, now: number): EuPreset {
  const { standard, source, releasedOn } = euVatRates()
  if (ownRate && standard[vatCountry(setting(db, 'shop.country'))] === undefined)
    throw new AppError('CONFLICT', 'Set shop.country to a member state of the EU first.')
  const rates = write(db, (tx) => {
    setSetting(tx, 'tax.crossBorder', ownRate ? 'own' : 'destination', now)
    return Object.entries(standard).map(([country, percent]) => {
      const rateMillionths = Math.round(percent * 10_000)
      return toTaxRate(store(tx, { country, region: '', class: 'standard', rateMillionths, name: null }))
    })
  })
  return { rates, source, releasedOn }
}

function defaultName(country: string): string {
  return isInEu(country) || country === 'GB' ? 'VAT' : 'Tax'
}

export type TaxRateRow = typeof taxRates.$inferSelect
