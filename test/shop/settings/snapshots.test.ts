import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase, readSnapshot, write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { isModuleOn, revisions, switchModule } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'

function beside({ dataDir }: { dataDir: string }): Db & Disposable {
  const db = openDatabase(join(dataDir, 'shopstead.db'))
  return { ...db, [Symbol.dispose]: () => void db.sqlite.close() }
}

test('a snapshot does not change while another process writes, and the next snapshot contains the change', () => {
  using shop = openTestShop()
  using other = beside(shop)
  const seen = readSnapshot(shop.db, () => {
    const before = isModuleOn(shop.db, 'courses')
    switchModule(other, 'courses', false, 0)
    return [before, isModuleOn(shop.db, 'courses')]
  })
  expect(seen).toEqual([true, true])
  expect(readSnapshot(shop.db, () => isModuleOn(shop.db, 'courses'))).toBe(false)
})

test('a snapshot ends when its work fails', () => {
  using shop = openTestShop()
  expect(() =>
    readSnapshot(shop.db, () => {
      throw new Error('no')
    })
  ).toThrow('no')
  expect(shop.db.sqlite.inTransaction).toBe(false)
  switchModule(shop.db, 'courses', false, 0)
  expect(isModuleOn(shop.db, 'courses')).toBe(false)
})

test('settings that were rolled back are not cached, although a later change has the same revision', () => {
  using shop = openTestShop()
  using other = beside(shop)
  const { db } = shop
  expect(() =>
    write(db, (tx) => {
      switchModule(tx, 'courses', false, 0)
      expect(readSnapshot(tx, () => isModuleOn(tx, 'courses'))).toBe(false)
      throw new Error('no')
    })
  ).toThrow('no')
  const before = revisions(db).settings
  switchModule(other, 'downloads', false, 0)
  expect(revisions(db).settings).toBe(before + 1)
  expect([isModuleOn(db, 'courses'), isModuleOn(db, 'downloads')]).toEqual([true, false])
})
