import { afterAll, beforeAll, expect, it } from 'vitest'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { everyQuestion, put, unmatched } from '../torture/authorisation/matrix.ts'
import type { Question } from '../torture/authorisation/matrix.ts'
import { furnish, shelf, Stage } from '../torture/authorisation/stage.ts'

// The whole matrix is asked of the packed server by `npm run torture -- authorisation`.

let shop: RunningShop
let stage: Stage
beforeAll(async () => {
  shop = await startShop({ seed: shelf })
  const { db, keys } = shop.app
  stage = new Stage({ url: shop.url, db, keys, hashes: await furnish(shop) })
})
afterAll(() => shop.stop())

it('has a line for every route, and none for what is no route', () => {
  expect(unmatched()).toEqual([])
})

it('answers those who are nobody here, and those who are no longer, as the table says', async () => {
  const owner = stage.enter('affiliate active', 'owner')
  const before = stage.recordsOf(owner)
  const isAsked = ({ kind, way }: Question): boolean => way === 'api' && (kind === 'guest' || kind === 'deactivated')
  const wrong: string[] = []
  for (const question of everyQuestion().filter(isAsked)) wrong.push(...(await put(stage, owner, question)))
  expect(wrong).toEqual([])
  expect(stage.recordsOf(owner)).toBe(before)
}, 60_000)
