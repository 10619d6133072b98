import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase, write } from '../../src/platform/db/database.ts'
import { emit } from '../../src/shop/webhooks/emit.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shopstead } from '../support/command-line.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('an operator reads what happened on some days in the time zone of the shop, with amounts', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const file = join(dataDir, 'shopstead.db')
  createMigratedDatabase(file)
  const db = openDatabase(file)
  onTestFinished(() => void db.sqlite.close())
  setSetting(db, 'shop.timeZone', 'Europe/Berlin', 0)
  const add = (at: string, orderId: number) =>
    write(db, (tx) => emit(tx, 'order.paid', { orderId, totalMinor: 3250, currency: 'EUR' }, Date.parse(at)))
  add('2026-03-14T22:59:59Z', 1)
  for (let orderId = 2; orderId <= 61; orderId += 1) add('2026-03-14T23:00:00Z', orderId)
  add('2026-03-15T23:00:00Z', 62)
  const ordersOf = async (...args: string[]) => {
    const { json } = await shopstead<{ events: { data: { orderId: number } }[] }>(dataDir, ['events', 'list', ...args])
    return json.events.map(({ data }) => data.orderId)
  }
  const day = await ordersOf('--from', '2026-03-15', '--to', '2026-03-15', '--json')
  expect(day).toEqual(Array.from({ length: 60 }, (_, index) => 61 - index))
  expect(await ordersOf('--to', '2026-03-14', '--json')).toEqual([1])
  expect(await ordersOf('--from', '2026-03-15', '--limit', '1', '--json')).toEqual([62])
  const { stdout } = await shopstead(dataDir, ['events', 'list', '--from', '2026-03-16'])
  expect(stdout).toMatch(/order\.paid +order 62, total €32\.50\n/)
  const [from, to] = [
    { code: 'mira', status: 'active' },
    { code: 'mira', status: 'inactive' }
  ] as const
  write(db, (tx) => emit(tx, 'affiliate.changed', { affiliateId: 1, from, to }, Date.parse('2026-03-17T12:00:00Z')))
  expect((await shopstead(dataDir, ['events', 'list', '--from', '2026-03-17'])).stdout).toContain(
    'affiliate 1, from (code mira, status active), to (code mira, status inactive)'
  )
  expect((await shopstead(dataDir, ['events', 'list', '--from', '2026-02-31'])).code).toBe(2)
})
