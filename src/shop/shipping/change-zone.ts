import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/zod-errors.ts'

import { shippingZone } from './input.ts'
import type { ShippingZone } from './input.ts'
import { setting } from '../settings/settings.ts'
import { applyShipping } from './apply-shipping.ts'
import { toZoneEntry } from './export-shipping.ts'
import type { ZoneEntry } from './export-shipping.ts'
import { deleteZone, findZone } from './zones.ts'

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
