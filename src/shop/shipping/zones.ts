import { asc, eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { rawStatement, rowsStatement } from '../../platform/db/statements.ts'
import type { ShippingZone } from './input.ts'
import { shippingCountries, shippingMethods, shippingZones } from './schema.ts'

/** The country of a zone that stands for all countries that are in no other zone. */
export const everywhereElse = '*'

export type MethodRow = typeof shippingMethods.$inferSelect

const methodsOf = rowsStatement(shippingMethods, 'zone_id = ? ORDER BY position, id')
const countriesOf = rowsStatement(shippingCountries, 'zone_id = ? ORDER BY country')
const zoneOfCountry = rawStatement<[string], { zoneId: number }>(
  `SELECT zone_id AS zoneId FROM shipping_countries WHERE country IN (?, '*') ORDER BY country = '*' LIMIT 1`
)
const allCountries = rawStatement<[], { country: string }>('SELECT country FROM shipping_countries ORDER BY country')

/** The codes of the countries in zones; `everywhereElse` among them if a zone has all other countries. */
export function zoneCountries(db: Db): string[] {
  return allCountries(db)
    .all()
    .map(({ country }) => country)
}

/** The methods of a country's zone, in their order; undefined for a country in no zone. */
export function methodsOfCountry(db: Db, country: string): MethodRow[] | undefined {
  const found = zoneOfCountry(db).get(country)
  return found === undefined ? undefined : methodsOf(db, found.zoneId)
}

/** All zones with their countries and methods, in their order. */
export function listZones(db: Db): ShippingZone[] {
  return db.orm
    .select()
    .from(shippingZones)
    .orderBy(asc(shippingZones.position), asc(shippingZones.id))
    .all()
    .map(({ id, name }) => {
      const countries = countriesOf(db, id).map(({ country }) => country)
      const methods = methodsOf(db, id).map(({ zoneId: _zone, position: _position, ...method }) => method)
      return { zone: name, countries: countries.includes(everywhereElse) ? everywhereElse : countries, methods }
    })
}

/** The zone with a name. */
export function findZone(db: Db, name: string): ShippingZone | undefined {
  return listZones(db).find(({ zone }) => zone === name)
}

/** Deletes the zone with a name, and its methods. */
export function deleteZone(tx: Tx, name: string): void {
  const row = tx.orm.select().from(shippingZones).where(eq(shippingZones.name, name)).get()
  if (row === undefined) return
  tx.orm.delete(shippingMethods).where(eq(shippingMethods.zoneId, row.id)).run()
  tx.orm.delete(shippingCountries).where(eq(shippingCountries.zoneId, row.id)).run()
  tx.orm.delete(shippingZones).where(eq(shippingZones.id, row.id)).run()
}
