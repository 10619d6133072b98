import { expect, it } from 'vitest'
import { createApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { write } from '../../src/platform/db/database.ts'
import { erasePerson } from '../../src/shop/customers/erase-person.ts'
import { giveBonus } from '../../src/shop/payouts/by-hand.ts'
import { failPayout } from '../../src/shop/payouts/fail.ts'
import { payPayouts } from '../../src/shop/payouts/pay.ts'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Payout = { id: number; affiliateCode: string; amountMinor: number; state: string }
type Json = { error?: { code: string; message: string }; payouts: Payout[] }

/** The demo shop, what runs its commands, and what changes it between them. */
function shopOfMira() {
  const dataDir = demoShop()
  const run = async (...words: string[]) => (await shopstead<Json>(dataDir, [...words, '--json'])).json
  const restore = (file: string) => shopstead(dataDir, ['backup', 'restore', file, '--yes'])
  return {
    dataDir,
    run,
    restore,
    backUp: async () => (await shopstead<{ file: string }>(dataDir, ['backup', 'create', '--json'])).json.file,
    change<T>(work: (app: App) => T): T {
      const config = parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir })
      const app = createApp(config, { database: 'migrated' })
      try {
        return work(app)
      } finally {
        app.close()
      }
    },
    listed: async () => (await run('payouts', 'list')).payouts.map(({ id, state }) => [id, state]),
    due: async () => {
      const { payouts } = await run('payouts', 'plan', '--affiliate', 'mira')
      return payouts[0]?.amountMinor ?? 0
    }
  }
}

const payAll = ({ db, clock, cards }: App) =>
  payPayouts(db, { by: 'lena', reference: 'run 9', affiliateId: 1, livemode: cards?.livemode }, clock.now())
const bonus = ({ db, clock }: App, amountMinor: number) =>
  giveBonus(db, 'mira', { amountMinor, reason: 'thank you' }, clock.now())
const fail = ({ db, clock }: App, id: number) =>
  failPayout(db, id, { reason: 'account closed', by: 'lena' }, clock.now())

it('a restore names the payouts that it lost, and none is made twice', async () => {
  const { backUp, change, restore, run } = shopOfMira()
  const file = await backUp()
  const amountMinor = change((app) => {
    // Only the replaced database has the bonus.
    bonus(app, 700)
    return payAll(app)[0]?.payout.amountMinor ?? 0
  })
  expect(amountMinor).toBeGreaterThan(700)

  expect((await restore(file)).stdout).toContain('payouts adopt')
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
  expect((await run('payouts', 'pay', '--affiliate', 'mira', '--yes')).payouts).toEqual([])
})

it('a restore names the failures that it lost, and what came back is due again', async () => {
  const { backUp, change, due, listed, restore, run } = shopOfMira()
  const amountMinor = change((app) => payAll(app)[0]?.payout.amountMinor ?? 0)
  const file = await backUp()
  change((app) => {
    fail(app, 2)
    payAll(app)
    fail(app, 3)
  })
  expect(await due()).toBe(amountMinor)

  expect((await restore(file)).stdout).toContain('(failed)')
  expect((await run('payouts', 'pay', '--yes')).error).toMatchObject({
    message: expect.stringContaining('payout 2, failed: account closed')
  })
  await run('payouts', 'adopt', '--yes')
  // With their numbers, which are on the statements that the affiliate has.
  expect(await listed()).toEqual([
    [3, 'failed'],
    [2, 'failed'],
    [1, 'failed']
  ])
  expect(await due()).toBe(amountMinor)
  expect((await run('payouts', 'pay', '--affiliate', 'mira', '--yes')).payouts).toMatchObject([
    { payoutId: 4, amountMinor }
  ])
})

it('a second restore does not forget what the first one lost', async () => {
  const { backUp, change, due, listed, restore, run } = shopOfMira()
  const file = await backUp()
  change((app) => payAll(app))
  await restore(file)
  expect((await restore(file)).stdout).toContain('payouts adopt')
  await run('payouts', 'adopt', '--yes')
  await restore(await backUp())
  expect(await listed()).toEqual([
    [2, 'paid'],
    [1, 'failed']
  ])
  expect(await due()).toBe(0)
  expect(await run('payouts', 'adopt', '--yes')).toEqual({ payouts: [] })
})

it('a payout to an affiliate who was erased after the backup is recorded', async () => {
  const { backUp, change, due, restore, run } = shopOfMira()
  const file = await backUp()
  change((app) => {
    payAll(app)
    write(app.db, (tx) => tx.sqlite.exec("UPDATE affiliates SET code = 'renamed', code_key = 'renamed' WHERE id = 1"))
    erasePerson(app.db, 2, app.clock.now())
  })
  await restore(file)
  expect((await run('payouts', 'adopt', '--yes')).payouts).toMatchObject([{ id: 2, affiliateCode: 'mira' }])
  expect(await due()).toBe(0)
})

it('a restore without later payouts loses none, and one over nothing says that none is known', async () => {
  const { backUp, dataDir } = shopOfMira()
  const file = await backUp()
  const restored = await shopstead(dataDir, ['backup', 'restore', file, '--yes', '--json'])
  expect(restored).toMatchObject({ code: 0, json: { lostPayouts: [] } })
  const elsewhere = await shopstead(temporaryFolder(), ['backup', 'restore', file, '--yes'])
  expect(elsewhere.stdout).toContain('compare the payouts to affiliates since the backup with your bank')
})
