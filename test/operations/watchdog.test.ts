import { expect, it, onTestFinished, vi } from 'vitest'
import { startShop } from '../support/running-shop.ts'

type Line = { ms: number; routes: string }

it('a request that blocks the event loop for 100 ms or longer is logged with its route', async () => {
  const blocks: Line[] = []
  const warn = (text: string, fields: object = {}) => {
    if (text === 'the event loop was blocked') blocks.push(fields as Line)
  }
  let isSlow = false
  // The line of each request is written in its handler's turn of the event loop.
  const info = (text: string) => {
    if (!isSlow || !['request', 'page'].includes(text)) return
    isSlow = false
    const until = performance.now() + 300
    while (performance.now() < until) continue
  }
  const shop = await startShop({ overrides: { log: { debug() {}, info, warn, error() {} } } })
  onTestFinished(() => shop.stop())
  for (const [url, route] of [
    [`${shop.apiRoot}/health`, 'GET /health'],
    [`${shop.url}/checkout/ffffffffffffffffffffffffffffffff`, 'GET /checkout/:token']
  ] as const) {
    isSlow = true
    await fetch(url)
    const routesOfLongBlocks = () => blocks.filter(({ ms }) => ms >= 250).map(({ routes }) => routes)
    await vi.waitFor(() => expect(routesOfLongBlocks()).toContain(route), 5_000)
  }
})
