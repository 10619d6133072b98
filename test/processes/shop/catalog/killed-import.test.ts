import { writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { importBatch } from '../../../../src/operations/catalog.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../../support/command-process.ts'
import { demoShop } from '../../../support/demo-shop.ts'

const count = 150 * importBatch

it('an import that is killed or interrupted stores whole transactions, and the next one continues there', async () => {
  const dataDir = demoShop()
  const file = join(dataDir, 'products.json')
  const products = Array.from({ length: count }, (_, index) => ({ slug: `n${index}`, name: 'New', price: 1 }))
  writeFileSync(file, JSON.stringify(products))

  expect(await interrupt(dataDir, file, 'SIGKILL', 2)).toMatchObject({ end: 'SIGKILL' })
  const stored = storedIn(dataDir)
  expect(stored).toBeGreaterThan(0)
  expect(stored % importBatch).toBe(0)

  const { end, stdout } = await interrupt(dataDir, file, 'SIGINT', stored / importBatch + 2)
  expect(end).toBe(1)
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; details: { imported: number } } }
  expect(error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('Run it again') })
  expect(storedIn(dataDir)).toBe(error.details.imported)

  const last = await runShopstead(dataDir, ['offers', 'import', file, '--json'])
  const left = count - error.details.imported
  expect(last).toMatchObject({ code: 0, json: { created: { products: left }, unchanged: { products: count - left } } })
})

/** Imports the file, and sends the signal when the shop has this many batches of it. */
async function interrupt(dataDir: string, file: string, signal: NodeJS.Signals, batches: number) {
  const child = spawnShopstead(dataDir, ['offers', 'import', file, '--json'])
  const ended = exitOf(child)
  const output = child.stdout === null ? '' : text(child.stdout)
  const watch = setInterval(() => {
    if (storedIn(dataDir) < batches * importBatch) return
    clearInterval(watch)
    child.kill(signal)
  }, 1)
  const end = await ended
  clearInterval(watch)
  return { end, stdout: await output }
}

function storedIn(dataDir: string): number {
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  const stored = sqlite.prepare<[], number>("SELECT count(*) FROM products WHERE slug LIKE 'n%' AND name = 'New'")
  const result = stored.pluck().get() ?? 0
  sqlite.close()
  return result
}
