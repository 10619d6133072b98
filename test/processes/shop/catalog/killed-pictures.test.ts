import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { widthsOf } from '../../../../src/platform/pictures/encode-picture.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../../support/command-process.ts'
import { demoShop } from '../../../support/demo-shop.ts'

const count = 20

it('shows only whole pictures after each kill of a fetch, and two retries at the same time store the rest', async () => {
  const dataDir = demoShop()
  const file = join(dataDir, 'products.json')
  const names = Array.from({ length: count }, (_, index) => `${index}.png`)
  for (const [index, name] of names.entries()) {
    const background = { r: index * 9, g: 90, b: 160 }
    const picture = sharp({ create: { width: 500, height: 300, channels: 3, background } })
    writeFileSync(join(dataDir, name), await picture.png().toBuffer())
  }
  const images = names.map((src) => ({ src }))
  writeFileSync(file, JSON.stringify([{ slug: 'album', name: 'Album', price: 5, images }]))
  mkdirSync(join(dataDir, 'media'), { recursive: true })
  let kills = 0
  for (let round = 1; round <= 4 && storedIn(dataDir).length < count; round += 1) {
    const child = spawnShopstead(dataDir, round === 1 ? ['offers', 'import', file] : ['offers', 'images', 'retry'])
    const ended = exitOf(child)
    // Kills it a few files after its first one.
    const before = readdirSync(join(dataDir, 'media')).length
    const watch = setInterval(() => {
      if (readdirSync(join(dataDir, 'media')).length >= before + 1 + round) child.kill('SIGKILL')
    }, 1)
    if ((await ended) === 'SIGKILL') kills += 1
    clearInterval(watch)
    await assertWhole(dataDir)
  }
  expect(kills).toBeGreaterThan(2)
  const retry = () => runShopstead(dataDir, ['offers', 'images', 'retry'])
  expect(await Promise.all([retry(), retry()])).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(storedIn(dataDir)).toHaveLength(count)
  await assertWhole(dataDir)
})

type Stored = { hash: string; width: number }

/** The pictures that the shop shows. */
function storedIn(dataDir: string): Stored[] {
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  const rows = sqlite
    .prepare<[], Stored>(
      `SELECT m.hash, m.width FROM product_images i JOIN media m ON m.hash = i.media_hash
       JOIN products p ON p.id = i.product_id WHERE p.slug = 'album'`
    )
    .all()
  sqlite.close()
  return rows
}

/** Each picture that the shop shows, and each file that it serves, can be decoded to its end. */
async function assertWhole(dataDir: string): Promise<void> {
  const media = join(dataDir, 'media')
  const wanted = storedIn(dataDir).flatMap(({ hash, width }) => widthsOf(width).map((each) => `${hash}-${each}.webp`))
  const served = readdirSync(media).filter((name) => name.endsWith('.webp'))
  expect(wanted.filter((name) => !served.includes(name))).toEqual([])
  for (const name of served)
    await sharp(readFileSync(join(media, name)), { failOn: 'error' })
      .raw()
      .toBuffer()
}
