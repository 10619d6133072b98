import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAffiliate } from '../../src/shop/affiliates/create.ts'
import { giveBonus } from '../../src/shop/payouts/by-hand.ts'
import { payPayouts } from '../../src/shop/payouts/pay.ts'
import { statementUrls } from '../../src/shop/payouts/statement.ts'
import { makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
const years = (count: number): number => count * 366 * 86_400_000
beforeAll(async () => {
  shop = await startShop()
  const { app } = shop
  const now = app.clock.now()
  for (const code of ['mira', 'jonas']) {
    const { id: userId } = await makeUser(app, { email: `${code}@shop.example`, passwordHash: 'none' })
    createAffiliate(app.db, { userId, code, status: 'active', rateBps: null }, now)
    giveBonus(app.db, code, { amountMinor: 1_000, reason: 'thank you' }, now)
  }
  payPayouts(app.db, { by: 'lena' }, now)
})
afterAll(() => shop.stop())

/** The statement of a payout at the address that tests listen on. */
const urlsOf = (id: number, createdAt = shop.app.clock.now()) => {
  const { keys } = shop.app
  return statementUrls({ keys, publicUrl: () => shop.url }, { id, createdAt })
}

it('a statement is a file that no cache keeps, for everyone who has its address', async () => {
  const pdf = await fetch(urlsOf(1).pdfUrl)
  expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
  expect(pdf.headers.get('content-disposition')).toContain('payout-1.pdf')
  expect(pdf.headers.get('cache-control')).toContain('no-store')
  expect(Buffer.from(await pdf.arrayBuffer()).toString('latin1', 0, 8)).toBe('%PDF-1.7')
  const csv = await fetch(urlsOf(2).csvUrl)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await csv.text()).toContain(',paid,jonas,')
})

it('a forged, a foreign and an expired address have no statement', async () => {
  const { pdfUrl } = urlsOf(1)
  const statusOf = async (url: string) => (await fetch(url)).status
  expect(await statusOf(pdfUrl.replace('/1.', '/2.'))).toBe(404)
  expect(await statusOf(`${pdfUrl}x`)).toBe(404)
  expect(await statusOf(`${shop.url}/account/payout/1`)).toBe(404)
  expect(await statusOf(urlsOf(1, shop.app.clock.now() - years(11)).pdfUrl)).toBe(404)
  expect(await statusOf(urlsOf(9).pdfUrl)).toBe(404)
})
