import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'

/** A browser's page at an address; its storage outlives pages. */
function openPage(search: string, { cookie = '' } = {}) {
  vi.stubGlobal('location', { search })
  vi.stubGlobal('document', { cookie })
  const sent: { path: string; body: unknown }[] = []
  const client = createClient({
    fetch: async (url, { body }) => {
      sent.push({ path: url.replace('/api/secure', ''), body: typeof body === 'string' ? JSON.parse(body) : undefined })
      return Response.json({ data: { nonce: 'n' } })
    }
  })
  const checkout = async (): Promise<string | undefined> => {
    await client.checkout({ items: [{ productId: 1, quantity: 1 }] })
    return sent.at(-1)?.path.split('?')[1]
  }
  const land = async (): Promise<unknown[]> => {
    client.captureLanding()
    await vi.waitFor(() => expect(sent.length % 2).toBe(0), { interval: 0 })
    return sent.filter(({ path }) => path === '/affiliates/clicks').map(({ body }) => body)
  }
  return { checkout, land }
}

beforeEach(() => {
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value)
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

it('a checkout sends the tracking of an earlier landing, and a click counts once a day', async () => {
  expect(await openPage('?ref=mira&campaign=spring&utm_source=letter&page=2').land()).toEqual([{ ref: 'mira' }])
  expect(await openPage('?ref=mira&campaign=spring&utm_source=letter').land()).toEqual([])
  const page = openPage('')
  expect(await page.land()).toEqual([])
  expect(await page.checkout()).toBe('ref=mira&campaign=spring&utm_source=letter')
})

it('a later landing replaces all values, and ends after 30 days', async () => {
  await openPage('?ref=mira&campaign=spring').land()
  expect(await openPage('?utm_source=letter').land()).toEqual([])
  expect(await openPage('').checkout()).toBe('utm_source=letter')
  vi.useFakeTimers({ now: Date.now() + 31 * 24 * 60 * 60 * 1000, toFake: ['Date'] })
  expect(await openPage('').checkout()).toBeUndefined()
  expect(await openPage('', { cookie: 'a=b; shopstead_ref=j%C3%B8rn; c=d' }).checkout()).toBe('ref=j%C3%B8rn')
})

it('a page works when the browser refuses to store, and a server has no landing', async () => {
  const refuse = (): never => {
    throw new DOMException('refused', 'SecurityError')
  }
  vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse })
  const page = openPage('?ref=mira')
  expect(await page.land()).toEqual([{ ref: 'mira' }])
  expect(await page.checkout()).toBeUndefined()
  vi.unstubAllGlobals()
  expect(() => createClient().captureLanding()).not.toThrow()
})

it('a landing with a value that is too long, or a malformed cookie, does not stop a checkout', async () => {
  await openPage(`?utm_source=${'x'.repeat(20_000)}&campaign=spring`).land()
  expect(await openPage('').checkout()).toBe('campaign=spring')
  localStorage.setItem('shopstead.tracking', 'null')
  expect(await openPage('', { cookie: 'shopstead_ref=%; shopstead_campaign=spring' }).checkout()).toBe(
    'campaign=spring'
  )
})
