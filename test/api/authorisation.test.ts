import { afterAll, beforeAll, expect, it } from 'vitest'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { allRequests, sendAll, unmatched } from '../torture/authorisation/matrix.ts'
import type { MatrixRequest } from '../torture/authorisation/matrix.ts'
import { prepareShop, shelf, MatrixShop } from '../torture/authorisation/matrix-shop.ts'

// `npm run torture -- authorisation` sends the whole matrix to the packed server.

let shop: RunningShop
let matrixShop: MatrixShop
beforeAll(async () => {
  shop = await startShop({ seed: shelf })
  const { db, keys } = shop.app
  matrixShop = new MatrixShop({ url: shop.url, db, keys, hashes: await prepareShop(shop) })
})
afterAll(() => shop.stop())

it('has an entry for every route and no other entries', () => {
  expect(unmatched()).toEqual([])
})

it('answers guests and deactivated people as the table expects', async () => {
  const owner = matrixShop.createPerson('affiliate active', 'owner')
  const before = matrixShop.recordsOf(owner)
  const isTested = ({ kind, via }: MatrixRequest): boolean =>
    via === 'api' && (kind === 'guest' || kind === 'deactivated')
  const wrong: string[] = []
  for (const request of allRequests().filter(isTested)) wrong.push(...(await sendAll(matrixShop, owner, request)))
  expect(wrong).toEqual([])
  expect(matrixShop.recordsOf(owner)).toBe(before)
}, 60_000)
