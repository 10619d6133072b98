import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { switchModule } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { expectNames, standardMeta } from './shapes.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null })
})
afterAll(() => shop.stop())

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

describe('GET /health', () => {
  it('answers exactly its fields', async () => {
    const { status, data, meta } = await shop.visitor().get('/health')
    expect(status).toBe(200)
    expect(data).toStrictEqual({
      status: 'ok',
      version,
      env: 'test',
      wpVersion: 'n/a',
      phpVersion: 'n/a',
      dependencies: { commerce: 'active', membershipsA: 'active', affiliates: 'active' },
      buildId: expect.stringMatching(/^\S+$/),
      buildFlavor: 'source',
      nonceBootstrapStrategy: 'stateless-hmac'
    })
    expectNames(meta, standardMeta)
  })

  it('answers the same with a session, a nonce and any header, and does not repeat them', async () => {
    const visitor = shop.visitor()
    await visitor.register()
    const nonce = await visitor.nonce()
    const mine = await visitor.get('/health?token=query-secret', { 'x-nonce': nonce, authorization: 'Bearer secret' })
    const anyone = await shop.visitor().get('/health')
    expect(mine.data).toEqual(anyone.data)
    expect(names(mine.headers)).toEqual(names(anyone.headers))
    expect(mine.headers.getSetCookie()).toEqual([])
    for (const secret of [...visitor.cookies.values(), nonce, 'ada@example.com', 'Ada Quill', 'secret']) {
      expect(mine.text).not.toContain(secret)
    }
  })

  it('reports a module that is off as missing, immediately', async () => {
    for (const name of ['commerce', 'membershipsA', 'affiliates'] as const) {
      switchModule(shop.app.db, name, false, 0)
      const { data } = await shop.visitor().get<{ dependencies: Record<string, string> }>('/health')
      expect(data.dependencies[name]).toBe('missing')
      switchModule(shop.app.db, name, true, 0)
    }
  })

  it('is 503 DEPENDENCY_UNAVAILABLE when the database does not answer, and so is readiness', async () => {
    const broken = await startShop({ seed: null })
    try {
      broken.app.db.sqlite.close()
      const { status, error, text } = await broken.visitor().get('/health')
      expect([status, error.code, error.details]).toEqual([503, 'DEPENDENCY_UNAVAILABLE', {}])
      expect(text).not.toMatch(/sqlite|connection|\.db/i)
      expect((await fetch(`${broken.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${broken.url}/livez`)).status).toBe(200)
      const { status: offers, text: offersText } = await broken.visitor().get('/store/offers')
      expect(offers).toBeGreaterThanOrEqual(500)
      expect(offersText).not.toMatch(/sqlite|connection|\.db/i)
    } finally {
      await broken.stop()
    }
  })
})

function names(headers: Headers): string[] {
  return [...headers.keys()].toSorted()
}
