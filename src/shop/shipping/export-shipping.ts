import type { Db } from '../../platform/db/database.ts'
import { toAmount } from '../catalog/import/write-json.ts'
import type { ShippingMethod, ShippingZone } from './input.ts'
import { listZones } from './zones.ts'

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
  const { id, name, amountMinor, freeFromMinor, perKgMinor, maxWeightGrams, estimate } = method
  const orNull = (minor: number | null) => (minor === null ? null : toAmount(minor, currency))
  return {
    id,
    name,
    amount: toAmount(amountMinor, currency),
    freeFrom: orNull(freeFromMinor),
    perKg: orNull(perKgMinor),
    maxWeightGrams,
    estimate
  }
}
