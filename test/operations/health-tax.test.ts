import { expect, it } from 'vitest'
import { diagnose } from '../../src/operations/diagnosis/diagnose.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { presetEu } from '../../src/shop/tax/rates.ts'
import { checkOf, configOf, quietShop, silent } from './health-support.ts'

it('warns of tax rates without a country of the shop, and of rates from data that is over a year old', async () => {
  expect(await checkOf('tax', await quietShop())).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/charges no tax/)
  })
  const dataDir = await quietShop(({ db }) => void presetEu(db, { ownRate: false }, 0))
  expect(await checkOf('tax', dataDir)).toMatchObject({
    status: 'warning',
    advice: expect.stringMatching(/shop\.country/)
  })
  const known = await quietShop(({ db }) => {
    setSetting(db, 'shop.country', 'DE', 0)
    presetEu(db, { ownRate: false }, 0)
  })
  const at = async (day: string) => {
    const overrides = { log: silent, lockTimeoutMs: 300, clock: { now: () => Date.parse(day) } }
    const { checks } = await diagnose(configOf(known), overrides)
    return checks.find(({ name }) => name === 'tax')
  }
  expect(await at('2026-11-23')).toMatchObject({ status: 'ok' })
  expect(await at('2030-01-01')).toMatchObject({ status: 'warning', message: expect.stringMatching(/over a year ago/) })
})
