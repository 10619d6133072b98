import { expect, test } from 'vitest'
import { changeSetting, resetSetting } from '../../src/operations/change-setting.ts'
import { setting } from '../../src/shop/settings/settings.ts'
import { draft, line, makeProduct, place } from '../shop/orders/support.ts'
import { emptyShop, noon } from '../support/temporary-shop.ts'

test('the currency, and no other setting, cannot be changed once there is an order', () => {
  const db = emptyShop()
  changeSetting(db, 'shop.currency', 'USD', noon)
  place(db, draft([line(makeProduct(db))]))
  const fixed = expect.objectContaining({
    code: 'CONFLICT',
    details: { fieldErrors: { 'shop.currency': [expect.stringContaining('cannot be changed')] } }
  })
  expect(() => changeSetting(db, 'shop.currency', 'EUR', noon)).toThrow(fixed)
  expect(() => resetSetting(db, 'shop.currency', noon)).toThrow(fixed)
  expect(setting(db, 'shop.currency')).toBe('USD')
  changeSetting(db, 'shop.currency', 'USD', noon)
  changeSetting(db, 'shop.name', 'Harbour Shop', noon)
  resetSetting(db, 'shop.name', noon)
  expect(setting(db, 'shop.name')).not.toBe('Harbour Shop')
})

test('the first number of orders can only rise, and each following order has a higher one', () => {
  const db = emptyShop()
  const next = (): number => place(db, draft([line(makeProduct(db))])).id
  changeSetting(db, 'orders.firstNumber', '4711', noon)
  expect([next(), next()]).toEqual([4711, 4712])
  changeSetting(db, 'orders.firstNumber', '4711', noon)
  expect(next()).toBe(4713)
  changeSetting(db, 'orders.firstNumber', '5000', noon)
  expect(next()).toBe(5000)
  const rises = expect.objectContaining({
    code: 'CONFLICT',
    details: { fieldErrors: { 'orders.firstNumber': [expect.stringContaining('is 5000 and can only rise')] } }
  })
  expect(() => changeSetting(db, 'orders.firstNumber', '4999', noon)).toThrow(rises)
  expect(() => resetSetting(db, 'orders.firstNumber', noon)).toThrow(rises)
  expect([setting(db, 'orders.firstNumber'), next()]).toEqual([5000, 5001])
})
