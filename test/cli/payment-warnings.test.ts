import { expect, test } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { openTestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/command-line.ts'
import { warn } from '../../src/shop/payments/warnings.ts'

test('a payment warning is listed until an operator says that it has been dealt with', async () => {
  using shop = openTestShop()
  const warning = { orderId: null, kind: 'foreign_object', objectId: 'pi_1', message: 'pi_1 is not ours.' } as const
  write(shop.db, (tx) => warn({ tx, log: shop.log, now: 0, by: 'test' }, warning))
  const listed = await shopstead(shop.dataDir, ['orders', 'warnings', '--json'])
  expect(listed.json).toMatchObject({ warnings: [{ id: 1, kind: 'foreign_object', message: 'pi_1 is not ours.' }] })
  expect((await shopstead(shop.dataDir, ['orders', 'warnings', '--settled', '1', '--json'])).json).toEqual({
    warnings: []
  })
  const again = await shopstead(shop.dataDir, ['orders', 'warnings', '--settled', '1', '--json'])
  expect([again.code, again.json]).toMatchObject([1, { error: { code: 'NOT_FOUND' } }])
})
