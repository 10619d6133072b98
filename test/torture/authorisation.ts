import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/platform/db/database.ts'
import { startShop } from '../support/running-shop.ts'
import { runConcurrently } from './http-client.ts'
import { allRequests, sendAll, unmatched } from './authorisation/matrix.ts'
import { prepareShop, shelf, MatrixShop } from './authorisation/matrix-shop.ts'
import type { Random } from './random.ts'
import { servePacked } from './packed-shop.ts'
import type { Trial, Part } from './part.ts'

/** Each pass sends the whole matrix in another order, and so concurrently with other requests. */
const fullPasses = 20
const concurrency = 6

/** Tests every kind of person at every route and page, with objects of their own, of another person, and of no person. */
export const authorisation: Part = {
  name: 'authorisation',
  about: 'every kind of person at every route and page, for their own, other people’s and missing objects',
  async run(trial: Trial): Promise<void> {
    for (const gap of unmatched()) trial.violation(gap)
    const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-authorisation-'))
    const shop = await startShop({ dataDir, seed: shelf })
    const hashes = await prepareShop(shop)
    const { keys } = shop.app
    await shop.stop()
    const server = await servePacked(trial.packed, { dataDir, env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
    const db = openDatabase(join(dataDir, 'shopstead.db'), { mustExist: true })
    try {
      const shop = new MatrixShop({ url: server.url, db, keys, hashes })
      for (let pass = 0; pass < (trial.isFull ? fullPasses : 1); pass += 1) {
        await sendMatrix(trial, shop)
        trial.progress(`pass ${pass + 1} finished`)
      }
    } finally {
      await server.end()
      db.sqlite.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

async function sendMatrix(trial: Trial, shop: MatrixShop): Promise<void> {
  const owner = shop.createPerson('affiliate active', 'owner')
  await shop.createReferral(owner)
  const before = shop.recordsOf(owner)
  const requests = shuffled(trial.random, allRequests())
  await runConcurrently(requests.length, concurrency, async (index) => {
    const request = requests[index]
    if (request === undefined) return
    for (const wrong of await sendAll(shop, owner, request)) trial.violation(wrong)
    trial.count(`requests (${request.via})`, 3)
  })
  if (shop.recordsOf(owner) !== before) trial.violation("another person's records were changed")
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const result = [...list]
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = random.between(0, at)
    const [left, right] = [result[at], result[other]]
    if (left === undefined || right === undefined) continue
    ;[result[at], result[other]] = [right, left]
  }
  return result
}
