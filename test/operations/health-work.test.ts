import { truncateSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { backUp } from '../../src/operations/backup/backups.ts'
import { write } from '../../src/platform/db/database.ts'
import { queueMail } from '../../src/shop/mail/queue.ts'
import { emit } from '../../src/shop/webhooks/emit.ts'
import { keysOf } from '../../src/platform/typed.ts'
import type { SettingKey } from '../../src/shop/settings/definitions.ts'
import { setSetting, switchModule } from '../../src/shop/settings/settings.ts'
import { addEndpoint } from '../../src/shop/webhooks/endpoints.ts'
import { draft, line, makeProduct, move, place } from '../shop/orders/support.ts'
import { checkOf, production, quietShop } from './health-support.ts'

describe('a check of the background work fails', () => {
  const dayMs = 24 * 60 * 60_000

  it('when an order is pending past its hold', async () => {
    const dataDir = await quietShop(({ db }) => {
      place(db, draft([line(makeProduct(db))]), Date.now() - dayMs)
    })
    expect(await checkOf('stuck orders', dataDir)).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^Order 1 /)
    })
  })

  it('when emails or events wait for more than an hour', async () => {
    const dataDir = await quietShop(({ db }) => {
      write(db, (tx) => {
        addEndpoint(tx, { url: 'https://site.example/hook', types: null }, 0)
        emit(tx, 'account.verified', { userId: 1 }, Date.now() - dayMs)
        queueMail(
          tx,
          { template: 'password_changed', recipient: 'a@shop.example', data: { userId: 1 } },
          Date.now() - dayMs
        )
      })
    })
    expect(await checkOf('undelivered mail', dataDir)).toMatchObject({ status: 'warning' })
    expect(await checkOf('undelivered events', dataDir)).toMatchObject({ status: 'warning' })
  })

  it('when the shop has no verified backup, or only an old one', async () => {
    const dataDir = await quietShop()
    expect(await checkOf('backups', dataDir)).toMatchObject({ status: 'ok' })
    expect(await checkOf('backups', dataDir, production)).toMatchObject({ status: 'failed' })
    let file = ''
    const withBackup = (age: number, schedule = '') =>
      quietShop(async (app) => {
        setSetting(app.db, 'backup.schedule', schedule, 0)
        file = (await backUp({ ...app, clock: { now: () => Date.now() - age } }, 'manual')).file
      })
    const of = async (age: number, schedule?: string) =>
      (await checkOf('backups', await withBackup(age, schedule), production))?.status
    expect(await of(dayMs)).toBe('ok')
    expect(await of(3 * dayMs)).toBe('warning')
    expect(await of(9 * dayMs)).toBe('failed')
    expect(await of(3 * dayMs, '0 3 * * 0')).toBe('ok')
    expect(await of(dayMs / 2, '0 * * * *')).toBe('warning')
    const spoilt = await withBackup(0)
    truncateSync(file, 40_960)
    expect(await checkOf('backups', spoilt, production)).toMatchObject({ status: 'failed' })
  })

  it('when invoices would not name the seller as the law requires, before the first sale in production', async () => {
    const withSeller = (legal: Partial<Record<SettingKey, string>>, sells = true) =>
      quietShop(({ db }) => {
        for (const key of keysOf(legal)) setSetting(db, key, legal[key] ?? '', 0)
        if (sells) move(db, place(db, draft([line(makeProduct(db))])).id, 'processing')
      })
    const address = { 'shop.legal.street': 'Quay 7', 'shop.legal.postcode': '20457', 'shop.legal.city': 'Hamburg' }
    const whole = { ...address, 'shop.country': 'DE', 'shop.legal.taxNumber': '12/345' }
    expect(await checkOf('invoices', await withSeller({}, false))).toMatchObject({ status: 'ok' })
    expect(await checkOf('invoices', await withSeller({}, false), production)).toMatchObject({ status: 'warning' })
    expect(await checkOf('invoices', await withSeller({}))).toMatchObject({ status: 'warning' })
    expect(await checkOf('invoices', await withSeller({ ...address, 'shop.country': 'DE' }))).toMatchObject({
      message: 'Invoices do not name the seller as the law requires: shop.legal.taxNumber is not set.'
    })
    expect(await checkOf('invoices', await withSeller(whole))).toMatchObject({
      status: 'ok',
      message: 'Invoices name the seller. Electronic ones (XRechnung) also need shop.legal.email, shop.legal.phone.'
    })
    const reached = { ...whole, 'shop.legal.email': 'bill@shop.example', 'shop.legal.phone': '040 555' }
    expect(await checkOf('invoices', await withSeller(reached))).toMatchObject({
      message: 'Invoices name the seller, also electronic ones.'
    })
    expect(await checkOf('invoices', await withSeller({ 'shop.legal': 'Tin Lantern Ltd' }))).toMatchObject({
      status: 'ok'
    })
  })

  it('when the commerce module is off', async () => {
    const dataDir = await quietShop((app) => switchModule(app.db, 'commerce', false, 0))
    expect(await checkOf('modules', dataDir)).toMatchObject({ status: 'warning' })
  })
})
