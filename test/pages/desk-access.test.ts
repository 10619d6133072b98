import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deskActions, deskPages } from '../../src/pages/desk/desk.ts'
import { listDeskLog } from '../../src/shop/desk/act.ts'
import { listPasskeys } from '../../src/shop/desk/passkeys.ts'
import { listDeskSessions } from '../../src/shop/desk/sessions.ts'
import { getPersonByEmail, invite, removePerson } from '../../src/shop/desk/people.ts'
import { isAllowed, permissions, roles } from '../../src/shop/desk/roles.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { askedBy, DeskVisitor, enableDesk, hiddenOf, paidOrder, personAtDesk } from '../support/desk-visitor.ts'
import type { Seen } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
let now = Date.UTC(2026, 10, 27, 9)
const minute = 60_000

beforeAll(async () => {
  shop = await startShop({ overrides: { clock: { now: () => now } } })
  enableDesk(shop.app)
})
beforeEach(() => {
  now += 60 * minute
})
afterAll(() => shop.stop())

const sessionCookie = ({ browser }: DeskVisitor): string => browser.cookies.get('shopstead_desk') ?? ''

describe('the desk', () => {
  it('lets an invited person make a passkey, log out and log in again', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const today = await anna.get('/desk')
    expect([today.status, today.html]).toEqual([200, expect.stringContaining(anna.email)])
    anna.browser.cookies.clear()
    expect((await anna.get('/desk')).location).toBe('/desk/login')
    now += 1
    expect((await anna.logIn()).location).toBe('/desk')
    expect((await anna.get('/desk/orders')).status).toBe(200)
  })

  it('does not exist while it is switched off', async () => {
    const anna = await personAtDesk(shop, 'owner')
    setSetting(shop.app.db, 'desk.enabled', 'false', now)
    const plain = (text: string): string => text.replaceAll(/[0-9a-f-]{36}|\d{4}-[^"]+Z/g, '')
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS'] as const) {
      for (const path of ['/desk', '/desk/login', '/desk/orders/1/refund', '/desk/manifest.webmanifest']) {
        const there = await anna.browser.fetch(`${shop.url}${path}`, { method })
        const nowhere = await anna.browser.fetch(`${shop.url}/nowhere`, { method })
        expect([path, there.status, plain(await there.text())]).toEqual([path, 404, plain(await nowhere.text())])
      }
    }
    enableDesk(shop.app)
  })

  it('sends a cookie that no other site can use, and pages that no site can frame and no cache keeps', async () => {
    const anna = await personAtDesk(shop, 'owner')
    now += 1
    const { headers } = await anna.logIn()
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; SameSite=Strict; HttpOnly$/)])
    const page = await anna.get('/desk')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect([page.headers.get('cache-control'), page.headers.get('x-robots-tag')]).toEqual(['no-store', 'noindex'])
  })

  it('uses an invitation up, and ends it after 15 minutes or by a newer one', async () => {
    const person = { email: 'once@shop.example', role: 'orders' } as const
    const open = async (url: string): Promise<number> => {
      const { pathname, search } = new URL(url)
      return (await new DeskVisitor(shop).get(`${pathname}${search}`)).status
    }
    const first = invite(shop.app, person, now)
    expect(await open(first.url)).toBe(200)
    const second = invite(shop.app, person, now)
    expect([await open(first.url), await open(second.url)]).toEqual([410, 200])
    now += 16 * minute
    expect(await open(second.url)).toBe(410)
    const anna = await personAtDesk(shop, 'orders', 'once@shop.example')
    expect((await anna.get('/desk')).status).toBe(200)
    expect(
      shop.app.db.sqlite.prepare('SELECT count(*) FROM desk_invitations WHERE used_at IS NULL').pluck().get()
    ).toBe(0)
  })

  it.each([
    ['of another site', { origin: 'https://evil.example' }],
    ['for another site', { rpId: 'evil.example' }],
    ['of a locked device', { isUnverified: true }]
  ])('refuses a signature %s', async (_name, faults) => {
    const anna = await personAtDesk(shop, 'owner')
    now += 1
    const asked = askedBy((await anna.get('/desk/login')).html)
    const credential = anna.passkey.use(asked ?? { challenge: '' }, faults)
    expect((await new DeskVisitor(shop).post('/desk/login', { credential })).status).toBe(401)
  })

  it('refuses a signature that was used before, is old, or was made for something else', async () => {
    const anna = await personAtDesk(shop, 'owner')
    now += 1
    const asked = askedBy((await anna.get('/desk/login')).html) ?? { challenge: '' }
    const credential = anna.passkey.use(asked)
    const thief = new DeskVisitor(shop)
    expect((await anna.post('/desk/login', { credential })).status).toBe(303)
    expect((await thief.post('/desk/login', { credential })).status).toBe(401)
    now += 6 * minute
    expect((await thief.post('/desk/login', { credential: anna.passkey.use(asked) })).status).toBe(401)
    const form = await anna.get('/desk/people/invite')
    const fields = { ...hiddenOf(form.html), email: 'new@shop.example', role: 'orders' }
    const proof = askedBy((await anna.post('/desk/people/invite', fields)).html) ?? { challenge: '' }
    expect((await thief.post('/desk/login', { credential: anna.passkey.use(proof) })).status).toBe(401)
  })

  it('refuses guesses past the limit of an address', async () => {
    setSetting(shop.app.db, 'limits.desk_ip', '3/900', now)
    const guess = async (): Promise<number> =>
      (await new DeskVisitor(shop).post('/desk/login', { credential: '{}' })).status
    const guesses: number[] = []
    for (let round = 0; round < 60 && !guesses.includes(429); round += 1) guesses.push(await guess())
    setSetting(shop.app.db, 'limits.desk_ip', 'off', now)
    expect([new Set(guesses), guesses.at(-1)]).toEqual([new Set(guesses.length > 1 ? [401, 429] : [429]), 429])
  })

  it('ends a session after hours without use, and when the role changes or the access ends', async () => {
    const anna = await personAtDesk(shop, 'orders', 'ends@shop.example')
    const isIn = async (): Promise<boolean> => (await anna.get('/desk')).status === 200
    expect(await isIn()).toBe(true)
    now += 5 * 60 * minute
    expect(await isIn()).toBe(false)
    await anna.logIn()
    expect(await isIn()).toBe(true)
    invite(shop.app, { email: 'ends@shop.example', role: 'reports' }, now)
    expect(await isIn()).toBe(false)
    now += 1
    await anna.logIn()
    expect(await isIn()).toBe(true)
    removePerson(shop.app.db, getPersonByEmail(shop.app.db, 'ends@shop.example').id, now)
    now += 1
    expect([await isIn(), (await anna.logIn()).status]).toEqual([false, 401])
  })

  it('gives each login a session of its own, whatever cookie the browser had', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const planted = 'A'.repeat(43)
    anna.browser.cookies.set('shopstead_desk', planted)
    expect((await anna.get('/desk')).location).toBe('/desk/login')
    now += 1
    await anna.logIn()
    expect(sessionCookie(anna)).not.toBe(planted)
  })

  it('refuses a form without the nonce of its session, and one of another site', async () => {
    const [anna, berta] = [await personAtDesk(shop, 'owner'), await personAtDesk(shop, 'owner', 'berta@shop.example')]
    const id = paidOrder(shop.app)
    const path = `/desk/orders/${id}/complete`
    const fields = hiddenOf((await anna.get(path)).html)
    const foreign = hiddenOf((await berta.get(path)).html)
    expect((await anna.post(path, { ...fields, nonce: '' })).status).toBe(403)
    expect((await anna.post(path, { ...fields, nonce: foreign['nonce'] ?? '' })).status).toBe(403)
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'https://blog.shop.example' }
    ] as Record<string, string>[]) {
      expect((await anna.post(path, fields, headers)).status).toBe(403)
    }
    expect((await anna.post(path, fields, { 'sec-fetch-site': 'same-origin' })).status).toBe(303)
  })

  it('removes the passkey and ends the session that a person names, not their others and not those of others', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const berta = await personAtDesk(shop, 'owner')
    const secondKey = new DeskVisitor(shop)
    const { url } = invite(shop.app, { email: anna.email, role: 'owner' }, now)
    const { pathname, search } = new URL(url)
    const asked = askedBy((await secondKey.get(`${pathname}${search}`)).html)
    const credential = secondKey.passkey.create(asked ?? { challenge: '' })
    await secondKey.post(pathname, { token: new URLSearchParams(search).get('token') ?? '', credential })
    const keysOf = ({ email }: DeskVisitor): string[] =>
      listPasskeys(shop.app.db, getPersonByEmail(shop.app.db, email).id).map(({ id }) => id)
    expect(keysOf(anna)).toHaveLength(2)

    const remove = (id: string): Promise<Seen> => {
      now += 1000
      return anna.send('/desk/access/passkey/remove', { id })
    }
    expect((await remove(berta.passkey.id)).html).toContain('You have no such passkey.')
    expect((await remove(secondKey.passkey.id)).location).toBe('/desk/access?done')
    expect([keysOf(anna), keysOf(berta)]).toEqual([[anna.passkey.id], [berta.passkey.id]])
    expect((await remove(anna.passkey.id)).html).toContain('This is your only passkey.')

    now += 1
    expect((await anna.logIn()).location).toBe('/desk')
    const { id: annaId } = getPersonByEmail(shop.app.db, anna.email)
    const sessions = (): number[] => listDeskSessions(shop.app.db, annaId, now).map(({ id }) => id)
    const before = sessions()
    await anna.send('/desk/access/end', { id: String(before.at(-1)) })
    expect(sessions()).toEqual(before.slice(0, -1))
    expect((await berta.get('/desk')).status).toBe(200)
  })

  it('asks for the passkey before money moves, and accepts only that of the person', async () => {
    const [anna, berta] = [await personAtDesk(shop, 'owner'), await personAtDesk(shop, 'owner', 'berta@shop.example')]
    const id = paidOrder(shop.app)
    const path = `/desk/orders/${id}/cancel`
    now += 10 * minute
    const asking = await anna.post(path, { ...hiddenOf((await anna.get(path)).html), sure: '1' })
    const asked = askedBy(asking.html) ?? { challenge: '' }
    const fields = hiddenOf(asking.html)
    expect((await anna.post(path, { ...fields, credential: berta.passkey.use(asked) })).status).toBe(401)
    expect((await anna.post(path, { ...fields, credential: '' })).status).toBe(401)
    expect((await anna.post(path, { ...fields, credential: anna.passkey.use(asked) })).location).toBe(
      `/desk/orders/${id}?done`
    )
  })

  it('notes each change with its person, and a refusal too', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const id = paidOrder(shop.app)
    await anna.send(`/desk/orders/${id}/complete`)
    await anna.send(`/desk/orders/${id}/ship`)
    const [second, first] = listDeskLog(shop.app.db, { limit: 2 })
    const entry = { who: anna.email, action: 'orders.handle' }
    expect([first, second]).toEqual([
      expect.objectContaining({ ...entry, subject: `orders/${id}/complete`, outcome: 'done' }),
      expect.objectContaining({ ...entry, subject: `orders/${id}/ship`, outcome: 'refused' })
    ])
  })
})

describe('the roles', () => {
  it('reach only what the table of permissions gives them, at every route and method', async () => {
    const id = paidOrder(shop.app)
    const open: string[] = []
    for (const role of roles) {
      const visitor = await personAtDesk(shop, role, `all-${role}@shop.example`)
      const actor = { personId: 1, role, isProven: true }
      for (const { name, needs } of [...deskPages, ...deskActions]) {
        const path = name.replaceAll(/:\w+/g, String(id))
        const isOpen = isAllowed(actor, needs)
        const statuses = [(await visitor.get(path)).status, (await visitor.post(path, {})).status]
        if (!isOpen && statuses[0] !== 403) open.push(`${role} ${path} ${statuses.join()}`)
        if (isOpen && statuses[0] === 403) open.push(`${role} ${path} is refused`)
        // Without the nonce nothing is done, whoever sends it.
        if (![403, 405].includes(statuses[1] ?? 0)) open.push(`${role} POST ${path} ${statuses[1]}`)
      }
    }
    expect(open).toEqual([])
  })

  it('are refused an action that their page does not offer', async () => {
    const id = paidOrder(shop.app)
    const clerk = await personAtDesk(shop, 'catalogue')
    const owner = await personAtDesk(shop, 'owner')
    const nonce = hiddenOf((await clerk.get('/desk/access')).html)['nonce'] ?? ''
    const { version = '' } = hiddenOf((await owner.get(`/desk/orders/${id}/refund`)).html)
    expect((await clerk.post(`/desk/orders/${id}/refund`, { nonce, version, sure: '1' })).status).toBe(403)
  })

  it('leave nothing to someone who is not logged in', async () => {
    const nobody = new DeskVisitor(shop)
    for (const { name } of [...deskPages, ...deskActions]) {
      const path = name.replaceAll(/:\w+/g, '1')
      for (const seen of [await nobody.get(path), await nobody.post(path, {})]) {
        expect([path, seen.status, seen.location]).toEqual([path, 303, expect.stringMatching(/^\/desk\/login/)])
      }
    }
  })

  it('are all used, and each permission is used by a route', () => {
    const used = new Set<string>([...deskPages, ...deskActions].map(({ needs }) => needs))
    expect(Object.keys(permissions).filter((name) => !used.has(name) && name !== 'sums')).toEqual([])
  })
})

describe('the person of a change', () => {
  it('stands in the event that it causes, also when others write at the same time', async () => {
    const [anna, berta] = [await personAtDesk(shop, 'owner'), await personAtDesk(shop, 'owner', 'berta@shop.example')]
    const [first, second] = [paidOrder(shop.app), paidOrder(shop.app)]
    await Promise.all([
      anna.send(`/desk/orders/${first}/complete`),
      berta.send(`/desk/orders/${second}/complete`),
      shop.visitor().get('/store/offers')
    ])
    const by = shop.app.db.sqlite
      .prepare("SELECT by FROM events WHERE payload ->> '$.orderId' = ? AND payload ->> '$.to' = 'completed'")
      .pluck()
    const idOf = (email: string): number => getPersonByEmail(shop.app.db, email).id
    expect([by.get(first), by.get(second)]).toEqual([`desk:${idOf(anna.email)}`, `desk:${idOf('berta@shop.example')}`])
  })
})
