import { afterAll, describe, expect, it } from 'vitest'
import { deskActions, deskPages } from '../../src/pages/desk/desk.ts'
import { listPeople, getPersonByEmail, invite, removePerson, endEverySession } from '../../src/shop/desk/people.ts'
import { listPasskeys } from '../../src/shop/desk/passkeys.ts'
import { permissions } from '../../src/shop/desk/roles.ts'
import { listImages } from '../../src/shop/catalog/images/manage-images.ts'
import { getOrder } from '../../src/shop/orders/find.ts'
import { setSetting, setting } from '../../src/shop/settings/settings.ts'
import { askedBy, DeskVisitor, enableDesk, hiddenOf, paidOrder, personAtDesk } from '../support/desk-visitor.ts'
import { slowRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'

const shop = await startShop()
const { app } = shop
enableDesk(app)
afterAll(() => shop.stop())

const cookieOf = ({ browser }: DeskVisitor): string => `shopstead_desk=${browser.cookies.get('shopstead_desk')}`
const isGuarded = (needs: keyof typeof permissions): boolean => 'isGuarded' in permissions[needs]

/** A browser with the cookie of a person, and without their passkey. */
function thiefOf(person: DeskVisitor): DeskVisitor {
  const thief = new DeskVisitor(shop)
  thief.browser.cookies.set('shopstead_desk', person.browser.cookies.get('shopstead_desk') ?? '')
  return thief
}

describe('a person whose access ends', () => {
  const invitation = async (person: DeskVisitor, email: string): Promise<string> => {
    const path = '/desk/people/invite'
    const asking = await person.post(path, { ...hiddenOf((await person.get(path)).html), email, role: 'owner' })
    const credential = person.passkey.use(askedBy(asking.html) ?? { challenge: '' })
    return new URLSearchParams({ ...hiddenOf(asking.html), credential }).toString()
  }

  it.each<[string, number, (email: string) => void]>([
    ['is removed', 401, (email) => removePerson(app.db, getPersonByEmail(app.db, email).id, app.clock.now())],
    ['gets another role', 401, (email) => invite(app, { email, role: 'reports' }, app.clock.now())],
    [
      'loses the desk',
      404,
      () => {
        setSetting(app.db, 'desk.enabled', 'false', app.clock.now())
        endEverySession(app.db)
      }
    ]
  ])('does nothing by a form that arrives slowly while the person %s', async (name, status, end) => {
    const email = `${name.replaceAll(' ', '-')}@shop.example`
    const person = await personAtDesk(shop, 'owner', email)
    const form = await invitation(person, `friend-${email}`)
    const head = [
      'POST /desk/people/invite HTTP/1.1',
      `Cookie: ${cookieOf(person)}`,
      'Content-Type: application/x-www-form-urlencoded'
    ]
    const answer = await slowRequest(shop.url, head, form, () => end(email))
    enableDesk(app)
    expect(answer).toMatch(new RegExp(String.raw`^HTTP/1\.1 ${status} `))
    expect(listPeople(app.db).map((each) => each.email)).not.toContain(`friend-${email}`)
  })
})

describe('a stolen cookie', () => {
  it('does nothing that is guarded, also a moment after the person used the passkey', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const id = paidOrder(app)
    expect((await anna.send(`/desk/orders/${id}/goods`, { 'line-1': '1' })).status).toBe(303)
    const thief = thiefOf(anna)
    const done: string[] = []
    for (const { name, needs } of deskActions.filter((action) => isGuarded(action.needs))) {
      const path = name.replaceAll(/:\w+/g, String(id))
      const form = await thief.get(path)
      if (form.status !== 200) continue
      const fields = {
        ...hiddenOf(form.html),
        'item-1': '1',
        email: 'thief@evil.example',
        role: 'owner',
        value: 'x',
        sure: '1'
      }
      const { status, html } = await thief.post(path, fields)
      if (status !== 422 && askedBy(html) === undefined) done.push(`${needs} ${path}: ${status}`)
    }
    expect(done).toEqual([])
    expect([getOrder(app.db, id).status, setting(app.db, 'shop.name')]).toEqual(['processing', 'Shopstead Demo'])
  })

  it('adds no passkey of the thief, by no order of the steps', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const thief = thiefOf(anna)
    const path = '/desk/access/passkey'
    const fields = hiddenOf((await thief.get(path)).html)
    const login = askedBy((await thief.get('/desk/login')).html) ?? { challenge: '' }
    const proof = askedBy((await thief.post(path, fields)).html) ?? { challenge: '' }
    for (const asked of [login, proof, { challenge: '' }]) {
      for (const credential of [thief.passkey.create(asked), thief.passkey.use(asked)]) {
        expect((await thief.post(path, { ...fields, made: '1', credential })).status).toBe(401)
        expect((await thief.post(path, { ...fields, credential })).status).toBe(401)
      }
    }
    expect(listPasskeys(app.db, getPersonByEmail(app.db, anna.email).id)).toHaveLength(1)
  })

  it('is no way round the passkey by the field of a new one', async () => {
    const anna = await personAtDesk(shop, 'owner')
    const thief = thiefOf(anna)
    const path = '/desk/settings/shop.name'
    const fields = { ...hiddenOf((await thief.get(path)).html), value: 'Evil', made: '1' }
    expect(askedBy((await thief.post(path, fields)).html)).toBeDefined()
    expect((await thief.post(path, { ...fields, credential: '{}' })).status).toBe(401)
    expect(setting(app.db, 'shop.name')).toBe('Shopstead Demo')
  })
})

describe('an owner', () => {
  it('cannot lose the own role by another spelling of the own email', async () => {
    const anna = await personAtDesk(shop, 'owner', 'anna@shop.example')
    for (const email of ['ANNA@shop.example', '\uFF41nna@shop.example', 'anna@SHOP.example']) {
      expect([email, (await anna.send('/desk/people/invite', { email, role: 'reports' })).status]).toEqual([email, 409])
    }
    expect(getPersonByEmail(app.db, anna.email)).toMatchObject({ email: anna.email, role: 'owner' })
  })
})

describe('what others write', () => {
  const evil = `"><script>alert(1)</script>'$(id)\`id\`;id`

  it('is text on every page, slip and label, which run nothing and which no site can frame', async () => {
    const address = {
      firstName: evil,
      lastName: '<img src=x>',
      address1: evil,
      postcode: '20457',
      city: evil,
      country: 'DE'
    }
    const id = paidOrder(app, { shippingAddress: address })
    const anna = await personAtDesk(shop, 'owner')
    for (const { name } of [...deskPages, ...deskActions]) {
      const path = name.replaceAll(/:\w+/g, String(id))
      const { status, html, headers } = await anna.get(`${path}?search=${encodeURIComponent(evil)}`)
      expect([path, /<script>alert|<img src=x/.test(html)]).toEqual([path, false])
      if (status !== 200 || !headers.get('content-type')?.startsWith('text/html')) continue
      const policy = headers.get('content-security-policy') ?? ''
      expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")])
      expect([path, policy]).toEqual([path, expect.not.stringMatching(/script-src[^;]*'unsafe/)])
    }
  })

  it('is one word of the command that a page shows, so that a shell runs nothing of it', async () => {
    const id = paidOrder(app)
    const anna = await personAtDesk(shop, 'owner')
    const names = ['status', 'from', 'to', 'search', 'cursor', 'category', 'quarter', 'year', 'format', 'on', 'value']
    const others = [
      'code',
      'slug',
      'zone',
      'method',
      'email',
      'role',
      'reason',
      'reference',
      'amount',
      'what',
      'template'
    ]
    const fields = Object.fromEntries([...names, ...others].map((name) => [name, evil]))
    const unsafe = (html: string): string[] =>
      [...html.matchAll(/<code>([^<]*)<\/code>/g)]
        .map(([, command = '']) => command.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&gt;', '>'))
        .filter((command) => /[$`;]/.test(command.replaceAll(String.raw`'\''`, '').replaceAll(/'[^']*'/g, '')))
    const found: string[] = []
    for (const { name } of deskPages) {
      const path = name.replaceAll(/:\w+/g, String(id))
      for (const field of names)
        found.push(...unsafe((await anna.get(`${path}?${field}=${encodeURIComponent(evil)}`)).html))
    }
    for (const { name } of deskActions) {
      const path = name.replaceAll(/:\w+/g, String(id))
      const form = await anna.get(path)
      found.push(...unsafe((await anna.post(path, { ...hiddenOf(form.html), ...fields })).html))
    }
    expect(found).toEqual([])
  })

  it('never names the file of a picture as an address or a path', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const path = '/desk/products/mug/picture'
    const dot = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64'
    )
    const sent = [
      '../../etc/passwd',
      'http://127.0.0.1:22/a.png',
      String.raw`C:\pictures\b.png`,
      `${'x'.repeat(5000)}.png`,
      '\u001B[2J.png'
    ]
    for (const name of sent) {
      const body = new FormData()
      for (const [field, value] of Object.entries(hiddenOf((await carla.get(path)).html))) body.append(field, value)
      body.append('picture', new Blob([dot]), name)
      expect((await carla.browser.fetch(`${shop.url}${path}`, { method: 'POST', body })).status).toBe(303)
    }
    const names = listImages(app, 'mug').map(({ src }) => src)
    expect(names).toEqual(['passwd', 'a.png', 'b.png', `${'x'.repeat(96)}.png`, '[2J.png'])
  })
})
