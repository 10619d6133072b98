import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { importShopify } from '../../../src/operations/moving-in/tables/shopify.ts'
import { mailsTo, tokenOf } from '../../support/mail-files.ts'
import { startShop } from '../../support/running-shop.ts'
import { writeShopifyExports } from './shopify-export.ts'

it('a customer of Shopify sets a password by email, and then sees the old orders', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const exports = writeShopifyExports(shop.dataDir)
  writeFileSync(join(exports, 'note.txt'), 'files that are no CSV are ignored')
  await importShopify(shop.app, [exports], { isDryRun: false, onStep: () => undefined })
  const buyer = shop.visitor()
  const email = 'ada@example.com'
  for (const password of ['', 'x', 'tidal-basalt-93'])
    expect((await buyer.post('/auth/login', { email, password })).status).not.toBe(200)
  expect((await buyer.post('/auth/forgot-password', { email })).status).toBe(200)
  const link = () => mailsTo(shop.dataDir, email).findLast(({ links }) => links['reset'] !== undefined)?.links['reset']
  await expect.poll(link, { timeout: 10_000 }).toBeDefined()
  const password = 'tidal-basalt-93'
  expect((await buyer.post('/auth/reset-password', { token: tokenOf(link()), password })).status).toBe(200)
  expect((await buyer.post('/auth/login', { email, password })).status).toBe(200)
  const { data } = await buyer.get<{ orders: { id: number }[] }>('/orders')
  expect(data.orders.map(({ id }) => id)).toEqual([1002, 1001])
})
