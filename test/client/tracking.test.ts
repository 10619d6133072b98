import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'

/** A browser's page at an address; its storage outlives pages. */
function openPage(
  search: string,
  { cookie = '', days = 30, isDown = false }: { cookie?: string; days?: number | null; isDown?: boolean } = {}
) {
  vi.stubGlobal('location', { search })
  vi.stubGlobal('document', { cookie })
  const sent: { path: string; body: unknown }[] = []
  const client = createClient({
    fetch: async (url, { body }) => {
      if (isDown) throw new TypeError('no connection')
      sent.push({ path: url.replace('/api/secure', ''), body: typeof body === 'string' ? JSON.parse(body) : undefined })
      return Response.json({ data: { nonce: 'n', accepted: true, trackingDays: days } })
    }
  })
  const checkout = async (): Promise<string | undefined> => {
    await client.checkout({ items: [{ productId: 1, quantity: 1 }] })
    return sent.at(-1)?.path.split('?')[1]
  }
  const land = async (): Promise<unknown[]> => {
    client.captureLanding()
    await vi.waitFor(() => expect(sent.length % 2).toBe(0), { interval: 0 })
    await vi.waitFor(() => expect(storedText()).not.toContain('asked'), { interval: 0 })
    return sent.filter(({ path }) => path === '/affiliates/clicks').map(({ body }) => body)
  }
  const landInVain = (): void => client.captureLanding()
  return { checkout, land, landInVain, client }
}

function storedText(): string {
  try {
    return localStorage.getItem('shopstead.tracking') ?? ''
  } catch {
    return ''
  }
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
  expect(await openPage('?ref=mira&campaign=spring&utm_source=letter&page=2').land()).toEqual([
    { ref: 'mira', campaign: 'spring' }
  ])
  expect(await openPage('?ref=mira&campaign=spring&utm_source=letter').land()).toEqual([])
  const page = openPage('')
  expect(await page.land()).toEqual([])
  expect(await page.checkout()).toBe('ref=mira&campaign=spring&utm_source=letter')
})

const afterDays = (days: number) => vi.useFakeTimers({ now: Date.now() + days * 86_400_000, toFake: ['Date'] })

it("a click counts for the shop's days, whatever is ordered in between", async () => {
  await openPage('?ref=mira&campaign=spring', { days: 7 }).land()
  await openPage('?ref=mira&campaign=spring', { days: 7 }).checkout()
  afterDays(6)
  expect(await openPage('').checkout()).toBe('ref=mira&campaign=spring')
  afterDays(2)
  // An order of day 6 may have set the cookie.
  expect(await openPage('', { cookie: 'shopstead_ref=mira' }).checkout()).toBeUndefined()
  vi.useRealTimers()
  await openPage('?ref=jonas', { days: 90 }).land()
  afterDays(60)
  expect(await openPage('').checkout()).toBe('ref=jonas')
})

it('a click that the shop did not answer counts for a day, and then for the days that it allows', async () => {
  openPage('?ref=mira', { isDown: true }).landInVain()
  expect(await openPage('').checkout()).toBe('ref=mira')
  afterDays(2)
  expect(await openPage('').checkout()).toBeUndefined()
  expect(await openPage('', { days: 7 }).land()).toEqual([{ ref: 'mira' }])
  expect(await openPage('').checkout()).toBe('ref=mira')
  afterDays(6)
  expect(await openPage('').checkout()).toBeUndefined()
})

it('only a ref that would count replaces another, and a newsletter leaves it', async () => {
  await openPage('?ref=mira&campaign=spring').land()
  await openPage('?ref=gone&campaign=other', { days: null }).land()
  expect(await openPage('').checkout()).toBe('ref=mira&campaign=spring')
  expect(await openPage('?utm_source=letter').land()).toEqual([])
  expect(await openPage('').checkout()).toBe('ref=mira&campaign=spring&utm_source=letter')
  await openPage('?ref=jonas').land()
  expect(await openPage('').checkout()).toBe('ref=jonas')
})

it('values without a ref end after 30 days, and the cookie of the shop counts without a click', async () => {
  await openPage('?utm_source=letter').land()
  afterDays(31)
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
  expect(await page.checkout()).toBe('ref=mira')
  vi.unstubAllGlobals()
  expect(() => createClient().captureLanding()).not.toThrow()
})

it('a site that asks for consent stores and counts nothing before, and sends what the address of the visit has', async () => {
  const { client, land } = openPage('?ref=mira&utm_source=letter')
  client.captureLanding({ asksConsent: true })
  expect([storedText(), client.trackingConsent(), client.tracking()]).toEqual([
    '',
    null,
    { ref: 'mira', utm_source: 'letter' }
  ])
  client.setTrackingConsent(false)
  expect([storedText(), client.trackingConsent()]).toEqual(['', null])
  expect(await land()).toEqual([{ ref: 'mira' }])
  expect(storedText()).toContain('mira')
})

it('a landing with a value that is too long, or a malformed cookie, does not stop a checkout', async () => {
  await openPage(`?utm_source=${'x'.repeat(20_000)}&campaign=spring`).land()
  expect(await openPage('').checkout()).toBe('campaign=spring')
  localStorage.setItem('shopstead.tracking', 'null')
  expect(await openPage('', { cookie: 'shopstead_ref=%; shopstead_campaign=spring' }).checkout()).toBeUndefined()
})

it('a click on another link says which one the browser has, and an answer without days leaves that one', async () => {
  await openPage('?ref=mira&campaign=spring', { days: 7 }).land()
  expect(await openPage('?ref=jonas', { days: null }).land()).toEqual([{ ref: 'jonas', current: 'mira' }])
  expect(await openPage('').checkout()).toBe('ref=mira&campaign=spring')
  afterDays(8)
  expect(await openPage('?ref=jonas').land()).toEqual([{ ref: 'jonas' }])
  expect(await openPage('').checkout()).toBe('ref=jonas')
})

it('a registration sends the link of the visitor, and no other value', async () => {
  await openPage('?ref=mira&campaign=spring&utm_source=letter').land()
  const sent: string[] = []
  const client = createClient({
    fetch: async (url) => {
      sent.push(url)
      return Response.json({ data: { nonce: 'n' } })
    }
  })
  await client.register({ email: 'a@b.example', password: 'x', displayName: 'A', acceptTerms: true })
  expect(sent.at(-1)).toBe('/api/secure/auth/register?ref=mira&campaign=spring')
})
