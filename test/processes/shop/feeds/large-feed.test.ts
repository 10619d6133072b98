import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { expect, it } from 'vitest'
import { keptFeed } from '../../../../src/shop/feeds/kept-feed.ts'
import { openTestShop } from '../../../support/shop-context.ts'

const picture = 'a'.repeat(32)

it('writes 100,000 variations in turns with other work, in memory that does not grow with them', async () => {
  using shop = openTestShop()
  shop.db.sqlite.exec(`
    INSERT INTO media (hash, width, height, created_at) VALUES ('${picture}', 800, 600, 0);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO products (id, slug, name, description, type, price_minor, published, position, created_at, updated_at)
      SELECT i, 'p' || i, 'Product ' || i, printf('%.*c', 800, 'x'), 'physical', 1000, 1, i, 0, 0 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
    INSERT INTO variations (product_id, sku, name, price_minor, is_default, position)
      SELECT 1 + i / 100, 'V' || i, 'V ' || i, 1000, 0, i FROM n;
    INSERT INTO product_images (product_id, src, alt, position, media_hash, created_at)
      SELECT id, 'x', '', 0, '${picture}', 0 FROM products`)
  const before = process.memoryUsage().rss
  let [mostBytes, turns] = [0, 0]
  const watch = setInterval(() => {
    turns += 1
    mostBytes = Math.max(mostBytes, process.memoryUsage().rss)
  }, 1)
  const feed = await keptFeed(shop, 'google.xml', shop.clock.now())
  clearInterval(watch)
  let items = 0
  for await (const line of createInterface(createReadStream(feed.path).pipe(createGunzip())))
    if (line.startsWith('<item>')) items += 1
  expect(items).toBe(100_000)
  expect(turns).toBeGreaterThan(50)
  // The feed has 125 MB.
  expect(mostBytes - before).toBeLessThan(80_000_000)
}, 120_000)
