import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/platform/db/database.ts'
import { startShop } from '../support/running-shop.ts'
import { runConcurrently } from './http-client.ts'
import { everyQuestion, put, unmatched } from './authorisation/matrix.ts'
import { furnish, shelf, Stage } from './authorisation/stage.ts'
import type { Random } from './random.ts'
import { servePacked } from './packed-shop.ts'
import type { Trial, Part } from './part.ts'

/** Each pass asks everything, in another order and so beside other questions. */
const wholePasses = 20
const atOnce = 6

/** Who may do what: every kind of person, at every route and page, for his own, another's and nobody's. */
export const authorisation: Part = {
  name: 'authorisation',
  about: 'every kind of person at every route and page, for what is his, what is another’s and what is nobody’s',
  async run(trial: Trial): Promise<void> {
    for (const gap of unmatched()) trial.violation(gap)
    const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-authorisation-'))
    const shop = await startShop({ dataDir, seed: shelf })
    const hashes = await furnish(shop)
    const { keys } = shop.app
    await shop.stop()
    const server = await servePacked(trial.packed, { dataDir, env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' } })
    const db = openDatabase(join(dataDir, 'shopstead.db'), { mustExist: true })
    try {
      const stage = new Stage({ url: server.url, db, keys, hashes })
      for (let pass = 0; pass < (trial.isFull ? wholePasses : 1); pass += 1) {
        await everything(trial, stage)
        trial.progress(`pass ${pass + 1} is over`)
      }
    } finally {
      await server.end()
      db.sqlite.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

async function everything(trial: Trial, stage: Stage): Promise<void> {
  const owner = stage.enter('affiliate active', 'owner')
  await stage.refer(owner)
  const before = stage.recordsOf(owner)
  const questions = shuffled(trial.random, everyQuestion())
  await runConcurrently(questions.length, atOnce, async (index) => {
    const question = questions[index]
    if (question === undefined) return
    for (const wrong of await put(stage, owner, question)) trial.violation(wrong)
    trial.count(`requests (${question.way})`, 3)
  })
  if (stage.recordsOf(owner) !== before) trial.violation('what belongs to another was changed')
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
