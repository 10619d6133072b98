import { hash } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { unzipSync } from 'fflate'
import { afterAll, expect, it } from 'vitest'
import { listDocuments } from '../../src/shop/invoices/find.ts'
import { listDeskLog } from '../../src/shop/desk/act.ts'
import { shopDay } from '../../src/shop/settings/shop-days.ts'
import { askedBy, enableDesk, hiddenOf, paidOrder, personAtDesk } from '../support/desk-visitor.ts'
import type { DeskVisitor } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'

const shop = await startShop()
const { app } = shop
enableDesk(app)
afterAll(() => shop.stop())

const path = '/desk/documents/archive'
const today = shopDay(app.db, app.clock.now())

/** Sends the form of the archive for some days with the passkey, as a browser does. */
async function download(visitor: DeskVisitor, days: object): Promise<Response> {
  const asking = await visitor.post(path, { ...hiddenOf((await visitor.get(path)).html), ...days })
  const credential = visitor.passkey.use(askedBy(asking.html) ?? { challenge: '' })
  const fields = { ...hiddenOf(asking.html), credential }
  return visitor.browser.fetch(`${shop.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
}

it('hands over the documents of some days as one ZIP file whose index and checksums hold', async () => {
  paidOrder(app)
  paidOrder(app, { items: ['mug'] })
  const rita = await personAtDesk(shop, 'reports')
  const days = { from: today, to: today }
  const listed = await rita.get(`/desk/documents?${new URLSearchParams(days).toString()}`)
  expect(listed.html).toContain(`/desk/documents/archive?from=${today}&amp;to=${today}`)
  expect((await rita.get(`${path}?from=${today}&to=${today}`)).html).toContain(`orders documents --from ${today}`)
  const answer = await download(rita, days)
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
    200,
    'application/zip',
    `attachment; filename="documents-${today}-${today}.zip"`
  ])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const files = unzipSync(await answer.bytes())
  const text = (name: string): string => new TextDecoder().decode(files[name])
  const rows: Record<string, string>[] = parse(text('index.csv'), { columns: true, bom: true })
  const documents = [...listDocuments(app.db, {})]
  expect(rows.map(({ number, file }) => [number, file])).toEqual(
    documents.map(({ number }) => [number, `${number}.pdf`])
  )
  const sums = text('SHA256SUMS').trim().split('\n')
  expect(sums).toHaveLength(documents.length + 1)
  for (const line of sums) {
    const [sum, name = ''] = line.split('  ')
    expect([name, hash('sha256', files[name] ?? '')]).toEqual([name, sum])
  }
  expect(Object.keys(files).toSorted()).toEqual(
    [...sums.map((line) => line.split('  ')[1] ?? ''), 'SHA256SUMS'].toSorted()
  )
  expect(listDeskLog(app.db, { limit: 1 })).toMatchObject([
    { who: rita.email, subject: 'documents/archive', outcome: 'done' }
  ])
})

it('says at the field what is wrong with the days, and keeps them', async () => {
  const rita = await personAtDesk(shop, 'reports')
  for (const [days, field, words] of [
    [{ from: '2019-01-01', to: '2019-03-31' }, 'from', 'There are no documents of these days.'],
    [{ from: '2019-04-01', to: '2019-03-31' }, 'to', 'The last day is before the first one.'],
    [{ from: 'spring', to: '2019-03-31' }, 'from', 'Enter a day such as 2026-01-31.']
  ] as const) {
    const answer = await download(rita, days)
    const html = await answer.text()
    expect([answer.status, html.includes(`id="${field}-error"`), html.includes(words)]).toEqual([422, true, true])
    expect(html).toContain(`value="${days.from}"`)
  }
})

it('asks for the passkey, because names and addresses leave the shop', async () => {
  const rita = await personAtDesk(shop, 'reports')
  const asking = await rita.post(path, { ...hiddenOf((await rita.get(path)).html), from: today, to: today })
  expect([asking.status, asking.html.includes('data-passkey="get"')]).toEqual([200, true])
  const answer = await rita.post(path, { ...hiddenOf(asking.html), credential: '{}' })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  const berta = await personAtDesk(shop, 'orders')
  expect((await berta.get(path)).status).toBe(403)
})

it('leads through many documents, and offers the quarters that are over', async () => {
  for (let count = 0; count < 55; count += 1) paidOrder(app, { items: ['mug'] })
  const rita = await personAtDesk(shop, 'reports')
  const numbers = new Set<string>()
  let next: string | undefined = `/desk/documents?from=${today}&to=${today}`
  for (let step = 0; next !== undefined && step < 5; step += 1) {
    const { html } = await rita.get(next)
    for (const [, number = ''] of html.matchAll(/<strong dir="auto">Invoice ([^<]+)</g)) numbers.add(number)
    next = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(numbers.size).toBe([...listDocuments(app.db, {})].length)
  const { html } = await rita.get('/desk/documents')
  expect([...html.matchAll(/>(\d{4}Q[1-4])</g)]).toHaveLength(4)
  expect(html).toContain('There are no documents of these days.')
})
