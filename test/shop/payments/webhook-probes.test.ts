import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeProbe, openProbe, probeDeliveries } from '../../../src/shop/payments/webhook.ts'
import { eventOf, openTill } from './till.ts'
import type { Till } from './till.ts'

let till: Till
beforeAll(async () => {
  till = await openTill()
})
afterAll(() => till.close())

const token = 'probe-of-the-test'
const deliver = (metadata: object, secret?: string) =>
  till.webhook(
    eventOf('checkout.session.expired', { id: 'cs_test_probe', object: 'checkout.session', metadata }),
    secret === undefined ? {} : { secret }
  )

it('stores accepted and refused deliveries of an open probe, and no others', async () => {
  const { app } = till.shop
  await deliver({ shopstead_probe: token })
  await openProbe(app, token)
  await deliver({ shopstead_probe: 'probe-of-another' })
  await deliver({ shopstead_probe: token })
  await deliver({ shopstead_probe: token }, 'whsec_of_the_new_endpoint')
  expect(probeDeliveries(app.db, token).map(({ isAccepted }) => isAccepted)).toEqual([true, false])
  for (let count = 0; count < 20; count += 1) await deliver({ shopstead_probe: token }, 'whsec_forged')
  expect(probeDeliveries(app.db, token)).toHaveLength(8)
  await closeProbe(app, token)
  expect(probeDeliveries(app.db, token)).toEqual([])
})

it('stores nothing for a probe that is ten minutes old', async () => {
  const { app } = till.shop
  await openProbe(app, token)
  till.clock.advance(10 * 60_000)
  await deliver({ shopstead_probe: token })
  expect(probeDeliveries(app.db, token)).toEqual([])
  await openProbe(app, 'probe-after-it')
  const left = app.db.sqlite.prepare('SELECT token FROM webhook_probes').pluck().all()
  expect(left).toEqual(['probe-after-it'])
})

it('stores and forgets the deliveries of one probe only', async () => {
  const { app } = till.shop
  const [mine, other] = ['probe-of-one-setup', 'probe-of-another-setup']
  await openProbe(app, mine)
  await openProbe(app, other)
  await deliver({ shopstead_probe: other })
  expect([probeDeliveries(app.db, mine).length, probeDeliveries(app.db, other).length]).toEqual([0, 1])
  await deliver({ shopstead_probe: mine })
  await deliver({ shopstead_probe: mine })
  expect([probeDeliveries(app.db, mine).length, probeDeliveries(app.db, other).length]).toEqual([2, 1])
  await closeProbe(app, mine)
  expect([probeDeliveries(app.db, mine).length, probeDeliveries(app.db, other).length]).toEqual([0, 1])
  await closeProbe(app, other)
})
