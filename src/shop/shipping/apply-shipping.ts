import { isDeepStrictEqual } from 'node:util'
import { eq, max } from 'drizzle-orm'
import { validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { countOutcomes } from '../catalog/changes.ts'
import type { Counts } from '../catalog/changes.ts'
import type { ShippingZone } from './input.ts'
import { shippingCountries, shippingMethods, shippingZones } from './schema.ts'
import { everywhereElse, findZone, listZones } from './zones.ts'

/**
 * Creates and updates shipping zones, matched by name. A zone gets exactly the countries and methods of its entry. Other
 * zones do not change.
 *
 * @throws AppError VALIDATION_FAILED when a country would be in two zones
 */
export function applyShipping(tx: Tx, zones: readonly ShippingZone[]): Counts {
  assertOneZoneEach(tx, zones)
  const changed = zones.map((zone) => ({ zone, known: findZone(tx, zone.zone) }))
  const written = changed.filter(({ zone, known }) => !isDeepStrictEqual(zone, known))
  const ids = written.map(({ zone }) => zoneId(tx, zone.zone))
  // A country can move from one zone of the file to another, so all zones lose theirs first.
  for (const id of ids) tx.orm.delete(shippingCountries).where(eq(shippingCountries.zoneId, id)).run()
  for (const [index, { zone }] of written.entries()) writeZone(tx, ids[index] ?? 0, zone)
  return countOutcomes(
    changed.map(({ zone, known }) => {
      if (known === undefined) return 'created'
      return isDeepStrictEqual(zone, known) ? 'unchanged' : 'updated'
    })
  )
}

/** The countries of a zone as they are stored. */
function codesOf({ countries }: ShippingZone): string[] {
  return countries === everywhereElse ? [everywhereElse] : countries
}

function assertOneZoneEach(db: Db, zones: readonly ShippingZone[]): void {
  const names = new Set(zones.map(({ zone }) => zone))
  const zoneOf = new Map(
    listZones(db)
      .filter(({ zone }) => !names.has(zone))
      .flatMap((zone) => codesOf(zone).map((country) => [country, zone.zone]))
  )
  const errors: FieldErrors = {}
  for (const [index, entry] of zones.entries()) {
    const { zone } = entry
    for (const country of codesOf(entry)) {
      const other = zoneOf.get(country)
      const what = country === everywhereElse ? 'All other countries are' : `${countryName(country)} is`
      if (other !== undefined) errors[`shipping.${index}.countries`] = [`${what} in the zone ${other} already.`]
      zoneOf.set(country, zone)
    }
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
}

/** The id of the zone with a name; a new zone is the last one. */
function zoneId(tx: Tx, name: string): number {
  const known = tx.orm.select().from(shippingZones).where(eq(shippingZones.name, name)).get()
  if (known !== undefined) return known.id
  const last = tx.orm
    .select({ position: max(shippingZones.position) })
    .from(shippingZones)
    .get()
  return tx.orm
    .insert(shippingZones)
    .values({ name, position: (last?.position ?? -1) + 1 })
    .returning()
    .get().id
}

function writeZone(tx: Tx, zoneId: number, zone: ShippingZone): void {
  tx.orm.delete(shippingMethods).where(eq(shippingMethods.zoneId, zoneId)).run()
  for (const country of codesOf(zone)) tx.orm.insert(shippingCountries).values({ country, zoneId }).run()
  for (const [position, method] of zone.methods.entries())
    tx.orm
      .insert(shippingMethods)
      .values({ ...method, zoneId, position })
      .run()
}
