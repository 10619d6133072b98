import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { users } from '../../../src/shop/accounts/schema.ts'
import { findDownloadFile } from '../../../src/shop/benefits/download-file.ts'
import { listDownloads, openDownload } from '../../../src/shop/benefits/download-links.ts'
import { deriveKeys } from '../../../src/platform/crypto/secrets.ts'
import type { GrantSpec } from '../../../src/shop/catalog/grants.ts'
import { switchModule } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { buy, person, product, refund } from './support.ts'

const dayMs = 86_400_000
const forLife: GrantSpec = { kind: 'download', file: 'patterns/lantern.txt', days: null }

async function bought(shop: TestShop, grants: GrantSpec[] = [forLife]) {
  const { id: userId } = await person(shop)
  const productId = product(shop)
  buy(shop, { userId, orderId: 1, productId, grants })
  const list = () => listDownloads(shop.db, shop.keys, userId, shop.clock.now())
  const token = () => list()[0]?.url.replace('/downloads/', '') ?? ''
  const open = (text: string) => openDownload(shop.db, shop.keys, text, shop.clock.now())
  return { userId, productId, list, token, open }
}

describe('a download link', () => {
  it('leads to the file that was bought, for a day', async () => {
    using shop = openTestShop()
    const { productId, list, token, open } = await bought(shop)
    const link = token()
    expect(list()).toEqual([
      { id: 1, productId, name: 'lantern.txt', url: `/downloads/${link}`, expiresAt: '2026-01-16T12:00:00.000Z' }
    ])
    shop.clock.advance(dayMs - 1)
    expect(open(link)).toBe('patterns/lantern.txt')
    shop.clock.advance(1)
    expect(open(link)).toBeUndefined()
    expect(open(token())).toBe('patterns/lantern.txt')
  })

  it('never outlives its permission', async () => {
    using shop = openTestShop()
    const { list, token, open } = await bought(shop, [{ ...forLife, days: 2 }])
    shop.clock.advance(2 * dayMs - 1000)
    const link = token()
    expect(list()[0]?.expiresAt).toBe('2026-01-17T12:00:00.000Z')
    shop.clock.advance(1000)
    expect(open(link)).toBeUndefined()
    expect(list()).toEqual([])
  })

  it('cannot be changed, lengthened, moved to another permission or signed by another shop', async () => {
    using shop = openTestShop()
    const { token, open, userId, productId } = await bought(shop)
    buy(shop, { userId, orderId: 2, productId, grants: [{ ...forLife, file: 'other.txt' }] })
    const link = token()
    const [id = '', expiry = '', signature = ''] = link.split('.')
    const later = (Number.parseInt(expiry, 36) + 1).toString(36)
    const flipped = `${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`
    const forged = [
      `${id}.${later}.${signature}`,
      `2.${expiry}.${signature}`,
      `${id}.${expiry}.${flipped}`,
      `0${link}`,
      `${link}=`,
      '',
      '.',
      '1..x'
    ]
    expect(forged.filter((text) => open(text) !== undefined)).toEqual([])
    expect(
      openDownload(shop.db, deriveKeys('another secret, of forty characters...'), link, shop.clock.now())
    ).toBeUndefined()
    expect(open(link)).toBe('patterns/lantern.txt')
  })

  it('dies with a refund, with its owner and with the module', async () => {
    using shop = openTestShop()
    const { userId, list, token, open } = await bought(shop)
    const link = token()
    switchModule(shop.db, 'downloads', false, 1)
    expect(open(link)).toBeUndefined()
    expect(list()).toEqual([])
    switchModule(shop.db, 'downloads', true, 2)
    expect(open(link)).toBe('patterns/lantern.txt')
    const setStatus = (status: 'active' | 'deactivated') =>
      shop.db.orm.update(users).set({ status }).where(eq(users.id, userId)).run()
    setStatus('deactivated')
    expect(open(link)).toBeUndefined()
    setStatus('active')
    refund(shop, 1)
    expect(open(link)).toBeUndefined()
    expect(list()).toEqual([])
  })

  it('is listed once for a file that was bought twice, by the permission that lasts longest', async () => {
    using shop = openTestShop()
    const { userId, productId, list } = await bought(shop, [{ ...forLife, days: 2 }])
    buy(shop, { userId, orderId: 2, productId, grants: [{ ...forLife, days: 2 }] })
    expect(list().map(({ id }) => id)).toEqual([1])
    shop.clock.advance(3 * dayMs)
    expect(list().map(({ id }) => id)).toEqual([2])
    buy(shop, { userId, orderId: 3, productId, grants: [forLife] })
    expect(list().map(({ id }) => id)).toEqual([3])
  })
})

describe('the downloads folder', () => {
  it('gives its regular files and nothing else', async () => {
    using shop = openTestShop()
    const folder = join(shop.dataDir, 'downloads')
    expect(await findDownloadFile(shop.dataDir, 'a.txt')).toBeUndefined()
    mkdirSync(join(folder, 'deep'), { recursive: true })
    writeFileSync(join(folder, 'deep', 'a.txt'), 'hello')
    writeFileSync(join(shop.dataDir, 'secret.key'), 'secret')
    symlinkSync(join(shop.dataDir, 'secret.key'), join(folder, 'link.txt'))
    symlinkSync(shop.dataDir, join(folder, 'out'))
    symlinkSync(join(folder, 'deep', 'a.txt'), join(folder, 'inside.txt'))
    symlinkSync('loop', join(folder, 'loop'))
    expect(await findDownloadFile(shop.dataDir, 'deep/a.txt')).toMatchObject({ sizeBytes: 5 })
    expect((await findDownloadFile(shop.dataDir, 'inside.txt'))?.path).toMatch(/deep\/a\.txt$/)
    const refused = [
      'link.txt',
      'out/secret.key',
      '../secret.key',
      '/etc/passwd',
      'deep',
      '.',
      '',
      'loop',
      'a\0.txt',
      'deep/a.txt/b',
      'x'.repeat(5000)
    ]
    const found = await Promise.all(refused.map((file) => findDownloadFile(shop.dataDir, file)))
    expect(found.filter((file) => file !== undefined)).toEqual([])
  })
})
