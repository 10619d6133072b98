import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  const numbered = Array.from({ length: 31 }, (_, index) => ({ slug: `p${index}`, name: `Part ${index}`, price: 2 }))
  const variations = [
    { sku: 'S', options: { Size: 'S', Colour: 'Red' }, price: 5 },
    { sku: 'M', options: { Size: 'M', Colour: 'Blue' }, price: 7, stock: 2 }
  ]
  shop = await startShop({ seed: { products: [{ slug: 'cap', name: 'Cap', price: 5, variations }, ...numbered] } })
  setSetting(shop.app.db, 'storefront.enabled', 'true', Date.now())
})
afterAll(() => shop.stop())

/** A browser without script: it follows nothing by itself and keeps cookies. */
function browser() {
  const cookies = new Map<string, string>()
  const send = async (path: string, fields?: Record<string, string>, headers: Record<string, string> = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${shop.url}${path}`, {
      method: fields === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, ...headers },
      ...(fields === undefined ? {} : { body: new URLSearchParams(fields) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }
  return { send, cookies }
}

describe('without script', () => {
  it('a product goes into the cart, the cart changes, and leads to the payment page', async () => {
    const { send, cookies } = browser()
    const added = await send('/cart', { slug: 'cap', 'option-0': 'M', 'option-1': 'Blue', quantity: '2' })
    expect([added.status, added.location, cookies.get('shopstead_cart')]).toEqual([303, '/cart', '1-2x2'])
    await send('/cart', { slug: 'p0', quantity: '1' })
    expect((await send('/cart')).text).toMatch(/Cap - M \/ Blue[\s\S]*€14\.00[\s\S]*Part 0[\s\S]*Total<[\s\S]*€16\.00/)
    const changed = (await send('/cart', { 'quantity-1-2': '3', 'quantity-2': '4', update: '1' })).text
    expect(cookies.get('shopstead_cart')).toBe('1-2x3.2x4')
    expect(changed).toMatch(/only \d left/)
    expect(changed).not.toContain('name="pay"')
    await send('/cart', { remove: '1-2' })
    const paid = await send('/cart', { 'quantity-2': '4', pay: '1' })
    expect([paid.status, paid.location]).toEqual([303, expect.stringContaining('/checkout/')])
  })

  it('a form of the cart changes only the lines that it shows, also after another tab has changed the cart', async () => {
    const { send, cookies } = browser()
    for (const slug of ['p0', 'p1', 'p2']) await send('/cart', { slug, quantity: '1' })
    const stale = (await send('/cart')).text
    const names = [...stale.matchAll(/name="(quantity-[\d-]+)"/g)].map(([, name = '']) => name)
    const removals = [...stale.matchAll(/name="remove" value="([\d-]+)"/g)].map(([, name = '']) => name)
    expect([names, removals]).toEqual([
      ['quantity-2', 'quantity-3', 'quantity-4'],
      ['2', '3', '4']
    ])
    await send('/cart', { remove: '2' })
    await send('/cart', { 'quantity-2': '9', 'quantity-3': '2', 'quantity-4': '3', update: '1' })
    expect(cookies.get('shopstead_cart')).toBe('3x2.4x3')
    await send('/cart', { remove: '2' })
    expect(cookies.get('shopstead_cart')).toBe('3x2.4x3')
  })

  it('the cart of a customer has the links of a customer in its header', async () => {
    const { send } = browser()
    const logIn = /<a href="\/login" data-signed="out">/
    expect((await send('/cart')).text).toMatch(logIn)
    const form = { displayName: 'Cy', email: 'cy@example.com', acceptTerms: 'on', password: 'tidal-basalt-93' }
    await send('/register', form)
    expect((await send('/cart')).text).not.toMatch(logIn)
    await send('/cart', { slug: 'p0', quantity: '1' })
    const page = (await send('/cart')).text
    expect(page).not.toMatch(logIn)
    expect(page).toMatch(/<a href="\/orders" data-signed="in">/)
  })

  it('a combination that does not exist and a cart that is full are told', async () => {
    const { send, cookies } = browser()
    const wrong = await send('/cart', { slug: 'cap', 'option-0': 'S', 'option-1': 'Blue' })
    expect(wrong.location).toBe('/products/cap?notice=no-choice')
    expect((await send('/products/cap?notice=no-choice')).text).toContain('This combination does not exist.')
    for (let index = 0; index < 30; index += 1) await send('/cart', { slug: `p${index}`, quantity: '1' })
    const before = cookies.get('shopstead_cart')
    const full = await send('/cart', { slug: 'p30', quantity: '1' })
    expect(full.location).toBe('/products/p30?notice=full')
    expect((await send('/products/p30?notice=full')).text).toContain(
      'Your cart is full: it can hold 30 different products.'
    )
    expect((await send('/products/p30?notice=constructor')).text).toContain('data-added></p>')
    expect(cookies.get('shopstead_cart')).toBe(before)
    await send('/cart', { slug: 'p29', quantity: '99' })
    expect(cookies.get('shopstead_cart')).toMatch(/x50$/)
  })

  it('an address has the fields of its country, and its errors beside them', async () => {
    const { send } = browser()
    const german = await send('/cart/address', undefined, { 'accept-language': 'de-DE,de' })
    expect(german.text).toMatch(/value="DE" selected[\s\S]*name="postcode"[\s\S]*name="city"/)
    expect(german.text).not.toContain('name="state"')
    expect((await send('/cart/address?country=US')).text).toMatch(/<option value="CA">[\s\S]*ZIP code/)
    const typed = { country: 'US', address1: 'Front <b>', city: 'Oakland', state: 'CA', postcode: '12' }
    const wrong = await send('/cart/address', typed)
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringMatching(/value="Front &lt;b&gt;"[\s\S]*id="postcode-error">Please enter the ZIP code/)
    ])
    expect(await send('/cart/address', { ...typed, postcode: ' 94607' })).toMatchObject({ status: 200 })
    expect(await send('/cart/address', { __proto__x: '1', country: '<i>' })).toMatchObject({ status: 422 })
  })

  it('a buyer logs in, and only a path of this site follows', async () => {
    const buyer = shop.visitor()
    await buyer.register({ email: 'ada@example.com', password: 'tidal-basalt-93' })
    const { send, cookies } = browser()
    const wrong = await send('/login', { email: 'ada@example.com', password: 'wrong <b>' })
    expect([wrong.status, wrong.text]).toEqual([
      401,
      expect.stringMatching(/role="alert"[\s\S]*value="ada@example\.com"/)
    ])
    expect(wrong.text).not.toContain('wrong')
    const right = { email: 'ada@example.com', password: 'tidal-basalt-93' }
    expect(await send('/login?next=/orders', right)).toMatchObject({ status: 303, location: '/orders' })
    expect(cookies.has('shopstead_session')).toBe(true)
    expect(await send('/login')).toMatchObject({ status: 303, location: '/account' })
    expect(await send('/login?next=/cart')).toMatchObject({ status: 303, location: '/cart' })
    expect(await send('/register?next=/cart')).toMatchObject({ status: 303, location: '/cart' })
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/x\n', '/\t/evil.example'])
      expect((await send(`/login?next=${encodeURIComponent(next)}`, right)).location).toMatch(/^\/account$|^\/%09/)
  })

  it('a buyer creates an account, and reads what is wrong beside its field', async () => {
    const { send, cookies } = browser()
    const typed = { displayName: 'Ada <b>', email: 'new@example.com', acceptTerms: 'on' }
    const wrong = await send('/register', { ...typed, password: 'short' })
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringMatching(/value="Ada &lt;b&gt;"[\s\S]*id="password-error">[\s\S]*name="acceptTerms"[^>]* checked/)
    ])
    expect(wrong.text).not.toContain('short')
    const { acceptTerms: _, ...unticked } = typed
    const refused = await send('/register', { ...unticked, password: 'tidal-basalt-93' })
    expect(refused.text).toMatch(/id="acceptTerms-error">[^<]+</)
    const made = await send('/register?next=/cart', { ...typed, password: 'tidal-basalt-93' })
    expect([made.status, made.location, cookies.has('shopstead_session')]).toEqual([303, '/cart', true])
    expect((await browser().send('/register', { ...typed, password: 'tidal-basalt-93' })).status).toBeGreaterThan(399)
  })

  it('a new account that must be verified is told to open the link', async () => {
    setSetting(shop.app.db, 'registration.emailVerification', 'true', Date.now())
    const form = { displayName: 'Bea', email: 'bea@example.com', acceptTerms: 'on', password: 'tidal-basalt-93' }
    const sent = await browser().send('/register', form)
    expect([sent.status, sent.text]).toEqual([200, expect.stringContaining('We have sent a link to bea@example.com')])
    setSetting(shop.app.db, 'registration.emailVerification', 'false', Date.now())
  })

  it('a forgotten password is answered alike for every email', async () => {
    const { send } = browser()
    const pages = await Promise.all(
      ['ada@example.com', 'nobody@example.com'].map((email) => send('/forgot-password', { email }))
    )
    expect(pages[0]?.text).toContain('If an account with this email exists')
    expect(pages[1]?.text).toBe(pages[0]?.text)
    expect(await send('/forgot-password', { email: 'x' })).toMatchObject({ status: 422 })
  })

  it('a customer sees orders, changes the profile and the password, and logs out', async () => {
    const { send, cookies } = browser()
    expect(await send('/account')).toMatchObject({ status: 303, location: '/login?next=%2Faccount' })
    expect((await send('/login?next=%2Faccount')).text).toMatch(/<h1>Please log in<[\s\S]*\/register\?next=%2Faccount/)
    const ada = { displayName: 'Ada', email: 'ada2@example.com', acceptTerms: 'on', password: 'tidal-basalt-93' }
    await send('/register', ada)
    expect((await send('/orders')).text).toContain('Your orders will appear here.')
    await send('/cart', { slug: 'p1', quantity: '1' })
    const paid = await send('/cart', { pay: '1' })
    const [, token = ''] = /\/checkout\/([\w-]+)/.exec(paid.location ?? '') ?? []
    const [, id = ''] = /href="\/orders\/(\d+)">Order \d+/.exec((await send('/orders')).text) ?? []
    const order = await send(`/orders/${id}`)
    expect([order.status, order.text]).toEqual([200, expect.stringContaining(`/checkout/${token}`)])
    expect((await send('/orders/999999')).status).toBe(404)
    const saved = await send('/account', { action: 'profile', displayName: 'Ada Q', lastName: 'Quill' })
    expect(saved.location).toBe('/account?done=profile#on-profile')
    expect((await send('/account?done=profile')).text).toMatch(
      /Hello, Ada Q[\s\S]*value="Quill"[\s\S]*role="status"[^>]*>Saved\./
    )
    const refused = await send('/account', { action: 'profile', displayName: '', billingEmail: 'no <b>' })
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringMatching(/id="displayName-error"[\s\S]*value="no &lt;b&gt;"[\s\S]*id="billingEmail-error"/)
    ])
    const wrong = await send('/account', {
      action: 'password',
      currentPassword: 'no',
      newPassword: 'granite-otter-5'
    })
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringMatching(/id="currentPassword-error">This is not your current password\./)
    ])
    const change = { action: 'password', currentPassword: ada.password, newPassword: 'granite-otter-5' }
    expect((await send('/account', change)).location).toBe('/account?done=password#on-password')
    expect((await send('/account', { action: 'logout' })).location).toBe('/')
    expect([cookies.get('shopstead_session') ?? '', (await send('/orders')).status]).toEqual(['', 303])
  })

  it('a customer stores and removes an address by the rules of its country', async () => {
    const { send } = browser()
    await send('/register', {
      displayName: 'Ida',
      email: 'ida@example.com',
      acceptTerms: 'on',
      password: 'tidal-basalt-93'
    })
    const typed = { country: 'US', address1: 'Front <b>', city: 'Oakland', state: 'CA', postcode: '12' }
    const shown = await send('/account', { action: 'country', ...typed })
    expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/value="Front &lt;b&gt;"[\s\S]*ZIP code/)])
    expect(shown.text).not.toContain('postcode-error')
    const wrong = await send('/account', { action: 'address', ...typed })
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringMatching(/value="Front &lt;b&gt;"[\s\S]*id="postcode-error">Please enter the ZIP code/)
    ])
    const saved = await send('/account', { action: 'address', ...typed, postcode: '94607' })
    expect(saved.location).toBe('/account?done=address#on-address')
    expect((await send('/account?done=address')).text).toMatch(
      /value="94607"[\s\S]*Your next order starts with this address/
    )
    await send('/account', { action: 'address.remove' })
    expect((await send('/account')).text).not.toMatch(/94607|Remove the address/)
  })

  it('an order that is ordered again fills the cart once, however often its page is loaded', async () => {
    const { send, cookies } = browser()
    await send('/register', {
      displayName: 'Bo',
      email: 'bo@example.com',
      acceptTerms: 'on',
      password: 'tidal-basalt-93'
    })
    await send('/cart', { slug: 'p3', quantity: '2' })
    await send('/cart', { pay: '1' })
    const [, id = ''] = /href="\/orders\/(\d+)">/.exec((await send('/orders')).text) ?? []
    expect((await send(`/orders/${id}`)).text).toMatch(/Cancel the order(?![\s\S]*Order again)/)
    expect((await send(`/orders/${id}`, { action: 'cancel' })).location).toBe(`/orders/${id}`)
    expect((await send(`/orders/${id}`)).text).toMatch(/This order was cancelled[\s\S]*Order again/)
    cookies.set('shopstead_cart', '')
    const again = await send(`/orders/${id}`, { action: 'again' })
    expect([again.location, cookies.get('shopstead_cart')]).toEqual([`/orders/${id}?again=1#again`, '5x2'])
    for (let times = 0; times < 2; times += 1)
      expect((await send(`/orders/${id}?again=1`)).text).toMatch(/Your cart has these items now(?![\s\S]*Order again)/)
    expect(cookies.get('shopstead_cart')).toBe('5x2')
    expect(await send(`/orders/${id}`, { action: 'other' })).toMatchObject({ location: `/orders/${id}` })
    expect(cookies.get('shopstead_cart')).toBe('5x2')
    expect(await send('/orders/999999', { action: 'again' })).toMatchObject({ status: 404 })
    expect(await send('/account', { action: 'subscriptions.end', id: 'x' })).toMatchObject({ status: 404 })
    expect(await send('/account', { action: 'constructor' })).toMatchObject({ location: '/account' })
    expect(await browser().send(`/orders/${id}`, { action: 'cancel' })).toMatchObject({ status: 303 })
  })

  it('a customer pages through the orders', async () => {
    const { send } = browser()
    await send('/register', {
      displayName: 'Max',
      email: 'max@example.com',
      acceptTerms: 'on',
      password: 'tidal-basalt-93'
    })
    const { id: userId } = shop.app.db.sqlite.prepare("SELECT id FROM users WHERE email = 'max@example.com'").get() as {
      id: number
    }
    for (let index = 0; index < 12; index += 1)
      shop.app.db.sqlite
        .prepare(
          `INSERT INTO orders (user_id, status, currency, subtotal_minor, discount_minor, total_minor, strategy, contact,
             public_token, created_at, updated_at)
           VALUES (?, 'cancelled', 'EUR', 200, 0, 200, 'redirect_to_store', '{}', ?, ?, ?)`
        )
        .run(userId, `paged-${index}`, index, index)
    const [first, second] = [(await send('/orders')).text, (await send('/orders?page=2')).text]
    expect([first.match(/<article/g)?.length, second.match(/<article/g)?.length]).toEqual([10, 2])
    expect(first).toMatch(/rel="next" href="\/orders\?page=2">Older orders/)
    expect(second).toMatch(/rel="prev" href="\/orders\?page=1">Newer orders/)
    expect((await send('/orders?page=99')).location).toBe('/orders?page=2')
    expect((await send('/orders?page=x')).text).toBe(first)
  })

  it('the cart is emptied when its order is paid, and not by a later visit', async () => {
    const { send, cookies } = browser()
    await send('/cart', { slug: 'p0', quantity: '1' })
    const sent = await send('/cart', { pay: '1' })
    const [, token = ''] = /\/checkout\/([\w-]+)/.exec(sent.location ?? '') ?? []
    const back = async () => {
      const { status, location } = await send(`/thanks?orderId=1&orderToken=${token}&result=success`)
      // The address of the page, which gets into referrers and logs, has no token.
      expect([status, location]).toEqual([303, '/thanks'])
      return (await send('/thanks')).text
    }
    expect(await back()).toMatch(/Your order is not paid yet[\s\S]*Pay now[\s\S]*Cancel the order/)
    expect(cookies.get('shopstead_cart')).not.toBe('')
    shop.app.db.sqlite.prepare("UPDATE orders SET status = 'processing', paid_at = 1 WHERE public_token = ?").run(token)
    expect(await back()).toContain('Thank you for your order')
    expect(cookies.get('shopstead_cart')).toBe('')
    await send('/cart', { slug: 'p2', quantity: '1' })
    await back()
    expect(cookies.get('shopstead_cart')).toMatch(/x1$/)
    expect((await send('/thanks?orderToken=../x')).status).toBe(404)
    await send('/thanks?orderToken=none')
    expect((await send('/thanks')).status).toBe(404)
    expect((await browser().send('/thanks')).status).toBe(404)
  })

  it('cancels the order of the form, also when another tab came back from another order', async () => {
    const buyer = browser()
    const tokens: string[] = []
    for (const slug of ['p0', 'p1']) {
      await buyer.send('/cart', { slug, quantity: '1' })
      const { location } = await buyer.send('/cart', { pay: '1' })
      tokens.push(/\/checkout\/([\w-]+)/.exec(location ?? '')?.[1] ?? '')
    }
    const [first = '', second = ''] = tokens
    const statusOf = (token: string) =>
      shop.app.db.sqlite.prepare('SELECT status FROM orders WHERE public_token = ?').pluck().get(token)
    await buyer.send(`/thanks?orderToken=${second}`)
    expect((await buyer.send('/thanks')).text).toContain(`name="orderToken" value="${second}"`)
    await buyer.send(`/thanks?orderToken=${first}`)
    const done = await buyer.send('/thanks', { orderToken: second })
    expect([done.status, done.location, statusOf(second)]).toEqual([303, '/thanks', 'cancelled'])
    // The cart says it once, without the token in its address.
    const returned = await buyer.send(`/cart?orderId=1&orderToken=${second}&result=cancelled`)
    expect([returned.status, returned.location]).toEqual([303, '/cart'])
    expect((await buyer.send('/cart')).text).toContain('You have not been charged')
    expect((await buyer.send('/cart')).text).not.toContain('You have not been charged')
  })

  it('an order that is sent again after its answer was lost is one order', async () => {
    const { send, cookies } = browser()
    await send('/cart', { slug: 'p0', quantity: '1' })
    await send('/cart')
    const before = [...cookies]
    const count = () => shop.app.db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()
    const placed = Number(count())
    const fields = { pay: '1', email: 'lost@example.com', createAccount: 'on', password: 'tidal-basalt-93' }
    const first = await send('/cart', fields)
    expect(first.status).toBe(303)
    cookies.clear()
    for (const [name, value] of before) cookies.set(name, value)
    expect((await send('/cart', fields)).location).toBe(first.location)
    expect(count()).toBe(placed + 1)
  })

  it('a form of another site changes nothing', async () => {
    const { send, cookies } = browser()
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const path of [
      '/cart',
      '/thanks',
      '/cart/address',
      '/login',
      '/register',
      '/forgot-password',
      '/account',
      '/orders/1',
      '/referrals'
    ])
      expect([path, (await send(path, { slug: 'p0' }, foreign)).status]).toEqual([path, 403])
    expect(cookies.size).toBe(0)
  })

  it.each(['', 'x', '1x0', '0x1', '1x1.'.repeat(40), '%00', '1-2-3x1', '1-0x1', '999999999999999x1'])(
    'a cart cookie of %j shows a page',
    async (value) => {
      const { send, cookies } = browser()
      cookies.set('shopstead_cart', value)
      expect((await send('/cart')).status).toBe(200)
    }
  )
})
