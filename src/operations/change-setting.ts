import { AppError } from '../errors.ts'
import { rawStatement, write } from '../platform/db/database.ts'
import type { Db, Tx } from '../platform/db/database.ts'
import { hasPrices, keptByOrders } from './convert-currency.ts'
import { hasOrders } from '../shop/orders/find.ts'
import type { SettingKey } from '../shop/settings/definitions.ts'
import type { ModuleName } from '../shop/settings/modules.ts'
import { emit } from '../shop/webhooks/emit.ts'
import { isModuleOn, setSetting, setting, switchModule, unsetSetting } from '../shop/settings/settings.ts'

/**
 * Sets one setting from text as an operator types it.
 *
 * @throws AppError VALIDATION_FAILED as `setSetting`; CONFLICT for the currency once there is a price or an order, and for
 *   a first number that is lower than before
 */
export function changeSetting(db: Db, key: SettingKey, text: string, now: number): void {
  write(db, (tx) => keepingPast(tx, () => reported(tx, key, now, () => setSetting(tx, key, text, now))))
}

/**
 * Sets a setting back to its default.
 *
 * @throws AppError CONFLICT as `changeSetting`
 */
export function resetSetting(db: Db, key: SettingKey, now: number): void {
  write(db, (tx) => keepingPast(tx, () => reported(tx, key, now, () => unsetSetting(tx, key))))
}

const firstNumbers = ['orders.firstNumber', 'invoice.firstNumber'] as const

/** Makes a change that must fit the orders, prices and numbers that the shop has. */
function keepingPast(tx: Tx, change: () => void): void {
  const before = { currency: setting(tx, 'shop.currency'), numbers: firstNumbers.map((key) => setting(tx, key)) }
  change()
  assertCurrencyFits(tx, before.currency)
  for (const [index, key] of firstNumbers.entries()) {
    const [old = 1, first] = [before.numbers[index], setting(tx, key)]
    if (first < old) throw refused(key, `${key} is ${old} and can only rise: numbers must not repeat.`)
  }
  countOrdersFrom(tx, setting(tx, 'orders.firstNumber'))
}

function reported(tx: Tx, key: SettingKey, now: number, change: () => void): void {
  const from = JSON.stringify(setting(tx, key))
  change()
  const to = JSON.stringify(setting(tx, key))
  if (from !== to) emit(tx, 'setting.changed', { key, from, to }, now)
}

/** Enables or disables a module, with an event. Its data stays. */
export function changeModule(db: Db, name: ModuleName, enabled: boolean, now: number): void {
  write(db, (tx) => {
    if (isModuleOn(tx, name) === enabled) return
    switchModule(tx, name, enabled, now)
    emit(tx, 'module.changed', { name, enabled }, now)
  })
}

/** Prices are stored without a currency, so a new currency would change what they mean. */
function assertCurrencyFits(tx: Tx, before: string): void {
  const after = setting(tx, 'shop.currency')
  if (after === before) return
  if (hasOrders(tx)) throw keptByOrders()
  if (!hasPrices(tx)) return
  const rule = `The shop has prices in ${before}. "shopstead offers convert ${after} --rate RATE" converts them and sets shop.currency.`
  throw refused('shop.currency', rule)
}

function refused(key: SettingKey, rule: string): AppError {
  return new AppError('CONFLICT', rule, { fieldErrors: { [key]: [rule] } })
}

// SQLite keeps the last id of a table with AUTOINCREMENT in sqlite_sequence, once the table has had a row.
const raised = rawStatement<{ last: number }, never>(
  `UPDATE sqlite_sequence SET seq = @last WHERE name = 'orders' AND seq < @last`
)
const begun = rawStatement<{ last: number }, never>(
  `INSERT INTO sqlite_sequence (name, seq)
   SELECT 'orders', @last WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'orders')`
)

/** Lets the next order have at least the number `first`. A number that is taken already changes nothing. */
function countOrdersFrom(tx: Tx, first: number): void {
  if (first === 1) return
  raised(tx).run({ last: first - 1 })
  begun(tx).run({ last: first - 1 })
}
