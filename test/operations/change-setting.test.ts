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
  expect(() => resetSetting(db, 'shop.currency')).toThrow(fixed)
  expect(setting(db, 'shop.currency')).toBe('USD')
  changeSetting(db, 'shop.currency', 'USD', noon)
  changeSetting(db, 'shop.name', 'Harbour Shop', noon)
  resetSetting(db, 'shop.name')
  expect(setting(db, 'shop.name')).not.toBe('Harbour Shop')
})
