import { expect, test } from 'vitest'
import { mailsOf, newestToken } from '../support/accounts.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { checkOut, count, fieldErrors, handoff, hidden, mug, orderOf, set, shopFor } from './checkout-support.ts'

const customer = {
  email: 'Ada@example.com',
  firstName: 'Ada',
  lastName: 'Quill',
  createAccount: true,
  password: goodPassword
}
const body = { items: [mug], customer }

test("creates an account with a guest's order, which can log in", async () => {
  const shop = await shopFor()
  const answer = await checkOut(shop.visitor(), body)
  expect(orderOf(shop, answer).order).toMatchObject({ userId: 1, email: 'Ada@example.com' })
  const login = await shop.visitor().post('/auth/login', { email: 'ada@example.com', password: goodPassword })
  expect(login.data).toMatchObject({ user: { email: 'Ada@example.com', displayName: 'Ada Quill' } })
  // The order is in the account, and nobody was logged in by buying.
  expect(answer.headers.getSetCookie().map((line) => line.split('=')[0])).toEqual(['shopstead_checkout'])
})

test("creates the account for a token payment, too, with the email's name if there is no other", async () => {
  const shop = await shopFor()
  const answer = await checkOut(shop.visitor(), {
    ...body,
    ...handoff,
    customer: { createAccount: true, password: goodPassword },
    billingAddress: { email: 'tove@example.com' }
  })
  expect(orderOf(shop, answer).order).toMatchObject({ userId: 1, status: 'processing' })
  expect(shop.app.db.sqlite.prepare('SELECT email, display_name AS name FROM users').all()).toEqual([
    { email: 'tove@example.com', name: 'tove' }
  ])
})

test('a code of one use per customer that makes the order free needs a login, also with a new account', async () => {
  const coupons = [{ code: 'GIFT', percent: 100, maxUsesPerCustomer: 1 }]
  const shop = await shopFor({ seed: { products: [{ slug: 'mug', name: 'Mug', price: '12.50' }], coupons } })
  const guest = await checkOut(shop.visitor(), { items: [mug], couponCode: 'GIFT' })
  expect([guest.status, fieldErrors(guest)]).toEqual([422, ['couponCode']])
  const answer = await checkOut(shop.visitor(), { ...body, couponCode: 'GIFT' })
  expect([answer.status, answer.error]).toEqual([422, guest.error])
  expect(count(shop, 'users')).toBe(0)
})

test.each([
  ['no email', { email: null }, 'customer.email'],
  ['no password', { password: undefined }, 'customer.password'],
  ['an empty password', { password: '' }, 'customer.password'],
  ['a short password', { password: 'kelp-93' }, 'customer.password'],
  ['a common password', { password: 'password123' }, 'customer.password'],
  ['a password that is the name', { password: 'adaquill' }, 'customer.password'],
  ['a password that is too long', { password: 'kelp'.repeat(65) }, 'customer.password']
])('rejects %s on its field, with no order and no account', async (_what, changes, path) => {
  const shop = await shopFor()
  const answer = await checkOut(shop.visitor(), { items: [mug], customer: { ...customer, ...changes } })
  expect([answer.status, answer.error.code, fieldErrors(answer)]).toEqual([422, 'VALIDATION_FAILED', [path]])
  expect([count(shop, 'orders'), count(shop, 'users')]).toEqual([0, 0])
})

test.each([
  ['a redirect', {}, 'false'],
  ['a redirect of a shop that verifies emails', {}, 'true'],
  ['token_handoff', handoff, 'false']
])('answers %s the same for an email with an account and for a new one', async (_way, how, verifies) => {
  const shop = await shopFor({ settings: { 'registration.emailVerification': verifies } })
  await makeUser(shop.app, { email: 'ADA@example.com' })
  const known = await checkOut(shop.visitor(), { ...body, ...how })
  const unknown = await checkOut(shop.visitor(), {
    ...body,
    ...how,
    customer: { ...customer, email: 'uma@example.com' }
  })
  const shapeOf = ({ status, data }: typeof known) => [status, Object.keys(data), data.status, data.paymentStatus]
  expect(shapeOf(known)).toEqual(shapeOf(unknown))
  expect(orderOf(shop, known).order.userId).toBeNull()
  expect(shop.app.db.sqlite.prepare('SELECT email FROM users ORDER BY id').pluck().all()).toEqual([
    'ADA@example.com',
    'uma@example.com'
  ])
  // The password of the stranger opens nothing.
  const login = { email: 'ada@example.com', password: `${goodPassword}-other` }
  expect((await shop.visitor().post('/auth/login', login)).status).toBe(401)
})

test('creates one account for ten concurrent checkouts with one email', async () => {
  const shop = await shopFor({ settings: { 'limits.register_email': 'off' } })
  const answers = await Promise.all(Array.from({ length: 10 }, () => checkOut(shop.visitor(), body)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect([count(shop, 'orders'), count(shop, 'users')]).toEqual([10, 1])
})

test('creates no account for a refused cart, and does not reveal whether the email has one', async () => {
  const shop = await shopFor()
  await makeUser(shop.app, { email: 'ada@example.com' })
  const answer = await checkOut(shop.visitor(), { ...body, items: [hidden] })
  expect(fieldErrors(answer)).toEqual(['items.0.productId'])
})

test('limits the accounts of one email, also for an email that has one, as for registration', async () => {
  const shop = await shopFor({ settings: { 'limits.register_email': '2/60' } })
  await makeUser(shop.app, { email: 'ada@example.com' })
  const statuses = []
  for (let round = 0; round < 3; round += 1) statuses.push((await checkOut(shop.visitor(), body)).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('counts accounts of checkouts as registrations from their address', async () => {
  const shop = await shopFor({ settings: { 'limits.register_ip': '1/60' } })
  expect((await checkOut(shop.visitor(), body)).status).toBe(200)
  const limited = await checkOut(shop.visitor(), { ...body, customer: { ...customer, email: 'uma@example.com' } })
  expect([limited.status, limited.error.code, limited.error.details]).toEqual([
    429,
    'RATE_LIMITED',
    { bucket: 'register_ip' }
  ])
  expect((await checkOut(shop.visitor())).status).toBe(200)
})

test("keeps the order a guest's until the email is verified, then the account claims it", async () => {
  const shop = await shopFor({ settings: { 'registration.emailVerification': 'true' } })
  const answer = await checkOut(shop.visitor(), body)
  expect(orderOf(shop, answer).order.userId).toBeNull()
  expect(mailsOf(shop.app).map(({ template, recipient }) => [template, recipient])).toEqual([
    ['verify_email', 'Ada@example.com']
  ])
  const login = { email: 'ada@example.com', password: goodPassword }
  expect((await shop.visitor().post('/auth/login', login)).error.code).toBe('AUTH_EMAIL_NOT_VERIFIED')
  expect(
    (await shop.visitor().post('/auth/verify-email', { token: newestToken(shop.app), password: goodPassword })).status
  ).toBe(200)
  expect(orderOf(shop, answer).order.userId).toBe(1)
  expect((await shop.visitor().post('/auth/login', login)).status).toBe(200)
})

test('ignores a request for an account if accounts are off, and for a logged-in customer', async () => {
  const shop = await shopFor({ settings: { 'checkout.accountCreation': 'false' } })
  expect(orderOf(shop, await checkOut(shop.visitor(), body)).order.userId).toBeNull()
  expect(count(shop, 'users')).toBe(0)
  set(shop, { 'checkout.accountCreation': 'true' })
  const visitor = shop.visitor()
  await visitor.register({ email: 'tove@example.com' })
  const answer = await checkOut(visitor, body)
  expect(orderOf(shop, answer).order).toMatchObject({ userId: 1, email: 'tove@example.com' })
  expect(count(shop, 'users')).toBe(1)
})

test('stores the password only as its hash', async () => {
  const shop = await shopFor()
  await checkOut(shop.visitor(), body, { key: 'k' })
  const { sqlite } = shop.app.db
  expect(sqlite.prepare('SELECT password_hash FROM users').pluck().all()).toEqual([
    expect.stringMatching(/^\$argon2id/)
  ])
  expect(sqlite.serialize().includes(goodPassword)).toBe(false)
})
