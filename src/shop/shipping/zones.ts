import { textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { isDeepStrictEqual } from 'node:util'
import { asc, eq, inArray, max, sql } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import type { FieldErrors } from '../../errors.ts'
import { write, statement } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { countOutcomes } from '../catalog/changes.ts'
import type { Counts } from '../catalog/changes.ts'
import { toAmount } from '../catalog/import/write-json.ts'
import { setting } from '../settings/settings.ts'
import { shippingZone } from './input.ts'
import type { ShippingMethod, ShippingZone, ChosenMethod } from './input.ts'
import { shippingCountries, shippingMethods, shippingZones } from './schema.ts'
import { chargeStepMinor } from '../../platform/money.ts'
import { isShipped, needsShipping } from '../catalog/product-types.ts'
import type { ProductType } from '../catalog/product-types.ts'

/** The country of a zone that stands for all countries that are in no other zone. */
export const everywhereElse = '*'

export type MethodRow = typeof shippingMethods.$inferSelect

const methods = statement((orm) =>
  orm
    .select()
    .from(shippingMethods)
    .where(eq(shippingMethods.zoneId, sql.placeholder('zoneId')))
    .orderBy(asc(shippingMethods.position), asc(shippingMethods.id))
    .prepare()
)
/** The zone of a country, and the zone of all countries that are in no other zone. */
const zonesOfCountry = statement((orm) =>
  orm
    .select()
    .from(shippingCountries)
    .where(inArray(shippingCountries.country, [sql.placeholder('country'), everywhereElse]))
    .prepare()
)
const countries = statement((orm) =>
  orm.select().from(shippingCountries).orderBy(asc(shippingCountries.country)).prepare()
)

/** The codes of the countries in zones; `everywhereElse` among them if a zone has all other countries. */
export function zoneCountries(db: Db): string[] {
  return countries(db)
    .all()
    .map(({ country }) => country)
}

/** The methods that ship to a country, in the order of its zone; undefined for a country in no zone. */
export function methodsOfCountry(db: Db, country: string): MethodRow[] | undefined {
  const found = zonesOfCountry(db).all({ country })
  const zone = found.find((row) => row.country === country) ?? found[0]
  return (
    zone &&
    methods(db)
      .all({ zoneId: zone.zoneId })
      .filter(({ pickup }) => !pickup)
  )
}

const pickups = statement((orm) =>
  orm
    .select({ method: shippingMethods })
    .from(shippingMethods)
    .innerJoin(shippingZones, eq(shippingZones.id, shippingMethods.zoneId))
    .where(eq(shippingMethods.pickup, true))
    .orderBy(asc(shippingZones.position), asc(shippingMethods.position))
    .prepare()
)

/**
 * The methods with which a buyer picks the goods up in the shop, each id once. They are those of all zones, because it does
 * not matter where the buyer lives.
 */
export function pickupMethods(db: Db): MethodRow[] {
  const all = pickups(db).all()
  return [...new Map(all.toReversed().map(({ method }) => [method.id, method])).values()].toReversed()
}

/** The pick-up method with an id; undefined for a method that ships. */
export function findPickup(db: Db, id: string | undefined): MethodRow | undefined {
  return pickupMethods(db).find((method) => method.id === id)
}

/** All zones with their countries and methods, in their order. */
export function listZones(db: Db): ShippingZone[] {
  const all = countries(db).all()
  return db.orm
    .select()
    .from(shippingZones)
    .orderBy(asc(shippingZones.position), asc(shippingZones.id))
    .all()
    .map(({ id: zoneId, name }) => {
      const codes = all.filter((row) => row.zoneId === zoneId).map(({ country }) => country)
      return {
        zone: name,
        countries: codes.includes(everywhereElse) ? everywhereElse : codes,
        methods: methods(db)
          .all({ zoneId })
          .map(({ zoneId: _zone, position: _position, ...method }) => method)
      }
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

/** The zones in the import format, with every field. */
export function exportShipping(db: Db, currency: string) {
  return listZones(db).map((zone) => toZoneEntry(zone, currency))
}

export type ZoneEntry = ReturnType<typeof toZoneEntry>

/** A zone in the import format. Amounts are in major units. */
export function toZoneEntry({ zone, countries, methods }: ShippingZone, currency: string) {
  return { zone, countries, methods: methods.map((method) => toMethodEntry(method, currency)) }
}

function toMethodEntry(method: ShippingMethod, currency: string) {
  const { id, name, amountMinor, freeFromMinor, perKgMinor, maxWeightGrams, estimate, pickup } = method
  const orNull = (minor: number | null) => (minor === null ? null : toAmount(minor, currency))
  return {
    id,
    name,
    amount: toAmount(amountMinor, currency),
    freeFrom: orNull(freeFromMinor),
    perKg: orNull(perKgMinor),
    maxWeightGrams,
    estimate,
    pickup
  }
}

/**
 * Changes a shipping zone, or creates it.
 *
 * @param change gets the zone in the import format, without countries and methods if it is new, and returns it as it
 *   should be
 * @throws AppError VALIDATION_FAILED
 */
export function changeZone(db: Db, name: string, change: (zone: ZoneEntry) => object): ShippingZone {
  const currency = setting(db, 'shop.currency')
  return write(db, (tx) => {
    const known = findZone(tx, name)
    const entry = known === undefined ? { zone: name, countries: [], methods: [] } : toZoneEntry(known, currency)
    const zone = parseWith(shippingZone(currency), change(entry))
    applyShipping(tx, [zone])
    return zone
  })
}

/** The methods of a zone with one that is new or changed, in the import format; undefined fields stay as they are. */
export function withMethod(methods: ZoneEntry['methods'], id: string, changes: object): object[] {
  const changed = (method: object): object => ({ ...method, ...definedFields(changes) })
  if (!methods.some((method) => method.id === id)) return [...methods, changed({ id })]
  return methods.map((method) => (method.id === id ? changed(method) : method))
}

/** @throws AppError NOT_FOUND */
export function getZone(db: Db, name: string): ShippingZone {
  const zone = findZone(db, name)
  if (zone === undefined) throw new AppError('NOT_FOUND', 'There is no shipping zone with this name.')
  return zone
}

/**
 * Removes a zone. Orders keep their shipping.
 *
 * @throws AppError NOT_FOUND
 */
export function removeZone(db: Db, name: string): void {
  write(db, (tx) => {
    getZone(tx, name)
    deleteZone(tx, name)
  })
}

/**
 * Removes a method of a zone, and the zone with its last method. Returns the zone, null if it was removed.
 *
 * @throws AppError NOT_FOUND
 */
export function removeMethod(db: Db, name: string, id: string): ShippingZone | null {
  return write(db, (tx) => {
    const known = getZone(tx, name)
    const methods = known.methods.filter((method) => method.id !== id)
    if (methods.length === known.methods.length) throw new AppError('NOT_FOUND', 'The zone has no method with this id.')
    if (methods.length === 0) {
      deleteZone(tx, name)
      return null
    }
    const zone = { ...known, methods }
    applyShipping(tx, [zone])
    return zone
  })
}

/** What decides the shipping costs of a cart or an order. `totalMinor` is after discounts. */
export type Goods = { type: ProductType; quantity: number; weightGrams: number | null; totalMinor: number }

/** A method that a buyer can choose, with what it costs; `renewalMinor` is what shipping the goods that renew costs alone. */
export type OfferedMethod = ChosenMethod & { amountMinor: number; renewalMinor: number | null }

/** Whether a cart or an order needs an address: something is shipped, and the buyer does not pick it up in the shop. */
export function needsAddress(
  lines: readonly { type: ProductType }[],
  method: Pick<ChosenMethod, 'pickup'> | null
): boolean {
  return needsShipping(lines) && method?.pickup !== true
}

/** The name of a method beside its costs, for buyers. */
export function methodLabel(
  { name, pickup = false }: Pick<ChosenMethod, 'name'> & { pickup?: boolean },
  { t }: Pick<Texts, 't'> = textsIn('en')
): string {
  return pickup ? name : t('sum.shippingNamed', { name })
}

/** The weight of what has to be shipped. A product without a weight weighs nothing. */
export function shippedGrams(goods: readonly Goods[]): number {
  return goods
    .filter(({ type }) => isShipped(type))
    .reduce((sum, { quantity, weightGrams }) => sum + quantity * (weightGrams ?? 0), 0)
}

/**
 * The methods that can ship these goods, with their costs in minor units of `currency`.
 *
 * @param renewing those of the goods that renew, at their full price
 */
export function offeredFor(
  methods: readonly MethodRow[],
  { goods, renewing, currency }: { goods: readonly Goods[]; renewing: readonly Goods[]; currency: string }
): OfferedMethod[] {
  const grams = shippedGrams(goods)
  return methods
    .filter(({ maxWeightGrams }) => maxWeightGrams === null || grams <= maxWeightGrams)
    .map((method) => {
      const { id, name, estimate, pickup, freeFromMinor } = method
      const costOf = (some: readonly Goods[]): number => {
        const goodsMinor = some.reduce((sum, { totalMinor }) => sum + totalMinor, 0)
        const isFree = freeFromMinor !== null && goodsMinor >= freeFromMinor
        return isFree ? 0 : costMinor(method, shippedGrams(some), currency)
      }
      const renewalMinor = needsShipping(renewing) ? costOf(renewing) : null
      return { id, name, estimate, pickup, amountMinor: costOf(goods), renewalMinor }
    })
}

/** Rounded half up to an amount that Stripe can charge. BigInt, because prices and weights can be large. */
function costMinor({ amountMinor, perKgMinor }: MethodRow, grams: number, currency: string): number {
  const step = BigInt(chargeStepMinor(currency))
  const thousandths = 1000n * BigInt(amountMinor) + BigInt(perKgMinor ?? 0) * BigInt(grams)
  return Number(((thousandths + 500n * step) / (1000n * step)) * step)
}
