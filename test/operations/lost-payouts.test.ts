import { expect, it } from 'vitest'
import { createApp } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { giveBonus } from '../../src/shop/payouts/by-hand.ts'
import { payPayouts } from '../../src/shop/payouts/payouts.ts'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'

type Json = { error?: { code: string; message: string }; payouts: { affiliateCode: string; amountMinor: number }[] }

it('a restore names the payouts that it lost, and none is made twice', async () => {
  const dataDir = demoShop()
  const run = async (...words: string[]) => (await shopstead<Json>(dataDir, [...words, '--json'])).json
  const created = await shopstead<{ file: string }>(dataDir, ['backup', 'create', '--json'])
  const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir })
  const app = createApp(config, { database: 'migrated' })
  const now = app.clock.now()
  // Only the replaced database has the bonus.
  giveBonus(app.db, 'mira', { amountMinor: 700, reason: 'thank you' }, now)
  const [paid] = payPayouts(app.db, { by: 'lena', reference: 'run 9' }, now)
  app.close()
  const amountMinor = paid?.payout.amountMinor ?? 0
  expect(amountMinor).toBeGreaterThan(700)

  const restored = await shopstead(dataDir, ['backup', 'restore', created.json.file, '--yes'])
  expect(restored.stdout).toContain('payouts adopt')
  expect((await run('payouts', 'pay', '--yes')).error).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('to mira')
  })
  expect(await run('payouts', 'adopt', '--yes')).toMatchObject({
    payouts: expect.arrayContaining([
      expect.objectContaining({ affiliateCode: 'mira', amountMinor, reference: 'run 9', paidBy: 'lena', state: 'paid' })
    ])
  })
  expect(await run('payouts', 'adopt', '--yes')).toEqual({ payouts: [] })
  // What the lost bonus got is a debt now.
  expect(await run('payouts', 'plan', '--affiliate', 'mira')).toMatchObject({
    payouts: [{ amountMinor: -700, earnedMinor: 0 }]
  })
  expect((await run('payouts', 'pay', '--yes')).payouts).toEqual([])
})

it('a restore without later payouts loses none', async () => {
  const dataDir = demoShop()
  const { json } = await shopstead<{ file: string }>(dataDir, ['backup', 'create', '--json'])
  const restored = await shopstead(dataDir, ['backup', 'restore', json.file, '--yes', '--json'])
  expect(restored).toMatchObject({ code: 0, json: { lostPayouts: [] } })
})
