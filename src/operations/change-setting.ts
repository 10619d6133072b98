import { AppError } from '../errors.ts'
import { write } from '../platform/db/database.ts'
import type { Db, Tx } from '../platform/db/database.ts'
import { hasOrders } from '../shop/orders/find.ts'
import type { SettingKey } from '../shop/settings/definitions.ts'
import { setSetting, setting, unsetSetting } from '../shop/settings/settings.ts'

/**
 * Sets one setting from text as an operator types it.
 *
 * @throws AppError VALIDATION_FAILED as `setSetting`, CONFLICT for the currency once there is an order
 */
export function changeSetting(db: Db, key: SettingKey, text: string, now: number): void {
  keepingCurrency(db, (tx) => setSetting(tx, key, text, now))
}

/**
 * Sets a setting back to its default.
 *
 * @throws AppError CONFLICT for the currency once there is an order
 */
export function resetSetting(db: Db, key: SettingKey): void {
  keepingCurrency(db, (tx) => unsetSetting(tx, key))
}

/** Prices are stored without a currency, so a new currency would change what the prices of existing orders mean. */
function keepingCurrency(db: Db, change: (tx: Tx) => void): void {
  write(db, (tx) => {
    const before = setting(tx, 'shop.currency')
    change(tx)
    if (setting(tx, 'shop.currency') === before || !hasOrders(tx)) return
    const rule = 'shop.currency cannot be changed once there is an order.'
    throw new AppError('CONFLICT', rule, { fieldErrors: { 'shop.currency': [rule] } })
  })
}
