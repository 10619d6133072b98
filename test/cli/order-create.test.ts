import { afterAll, beforeAll, expect, it } from 'vitest'
import { getOrder } from '../../src/shop/orders/find.ts'
import { endHolds } from '../../src/shop/payments/end-hold.ts'
import { mailsOf, stockOf } from '../shop/orders/support.ts'
import { quay } from '../support/addresses.ts'
import { shopstead } from '../support/command-line.ts'
import type { Typed } from '../support/command-line.ts'
import { makeUser } from '../support/people.ts'
import { smallCatalog, startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

type Created = {
  order: { id: number; status: string; total: number; email: string }
  history: { by: string }[]
  payUrl: string
  error: { code: string; details: { fieldErrors: Record<string, string[]> } }
}

let shop: RunningShop
beforeAll(async () => {
  const shirt = { slug: 'shirt', name: 'Shirt', price: '20.00' }
  const variations = [{ sku: 'RED', name: 'Red', price: '20.00', default: true }]
  shop = await startShop({
    seed: { ...smallCatalog, products: [...smallCatalog.products, { ...shirt, variations }] }
  })
})
afterAll(() => shop.stop())

const env = { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' }
const create = (args: string[], typed: Typed = { env }) =>
  shopstead<Created>(shop.dataDir, ['orders', 'create', '--email', 'gwen@example.com', '--json', ...args], typed)

it('a phone order is refused where the command does not know the address of the shop', async () => {
  const count = () => shop.app.db.sqlite.prepare('SELECT count(*) FROM orders').pluck().get()
  const before = count()
  const refused = await create(['--item', 'mug:1'], {})
  expect(refused).toMatchObject({ code: 1, json: { error: { code: 'CONFIG_INVALID' } } })
  expect(refused.stdout).toContain('SHOPSTEAD_PUBLIC_URL')
  expect(count()).toBe(before)
})

it('a phone order holds its stock, and its buyer pays it on the page of the link', async () => {
  const { code, json } = await create([
    '--item',
    'last:1',
    'mug:2',
    '--coupon',
    'TEN',
    '--first-name',
    'Gwen',
    '--mail'
  ])
  expect(code).toBe(0)
  const { order, payUrl, history } = json
  expect(order).toMatchObject({ status: 'pending', total: 27, email: 'gwen@example.com' })
  expect(history).toMatchObject([{ by: 'operator' }])
  expect(stockOf(shop.app.db, 4)).toBe(0)
  expect(mailsOf(shop.app.db)).toContainEqual({
    template: 'payment_link',
    recipient: 'gwen@example.com',
    data: { orderId: order.id }
  })
  const path = new URL(payUrl).pathname
  const buyer = shop.visitor()
  expect(await (await buyer.fetch(`${shop.url}${path}`)).text()).toContain('€27.00')
  const sent = await buyer.form(`${shop.url}${path}`, { payment_method: 'card', ...quay })
  expect(sent.headers.get('location')).toContain('/sandbox/checkout/')
  const session = shop.app.sandbox?.findCheckout({ clientReferenceId: String(order.id) })
  await shop.app.sandbox?.payCheckout(session?.id ?? '', { paymentMethod: 'pm_card_visa' })
  expect(getOrder(shop.app.db, order.id)).toMatchObject({ status: 'processing', contact: { firstName: 'Gwen' } })
})

it('a phone order that is not paid in time ends like others', async () => {
  const { json } = await create(['--item', 'mug:1', '--hold', '1h'])
  const { holdEndsAt, createdAt } = getOrder(shop.app.db, json.order.id)
  expect((holdEndsAt ?? 0) - createdAt).toBe(3_600_000)
  const later = { ...shop.app, clock: { now: () => createdAt + 3_700_000 } }
  await endHolds(later)
  expect(getOrder(shop.app.db, json.order.id).status).toBe('cancelled')
})

it('a phone order takes a variation, an address with shipping, and belongs to an account with a verified email', async () => {
  const lena = await makeUser(shop.app, { email: 'lena@shop.example', verified: true })
  const { firstName, lastName, ...place } = quay
  const address = Object.entries(place).flatMap(([part, text]) => [`--${part}`, text])
  const names = ['--first-name', firstName, '--last-name', lastName]
  const { json } = await create(['--item', 'shirt/RED:2', ...address, ...names, '--email', 'lena@shop.example'])
  expect(getOrder(shop.app.db, json.order.id)).toMatchObject({ userId: lena.id, shippingAddress: place })
})

it('a phone order that costs nothing is paid, and sends no link', async () => {
  const { json } = await create(['--item', 'free-sheet:1', '--mail'])
  expect(json.order.status).toBe('completed')
  expect(json.payUrl).toContain('/checkout/done/')
  expect(mailsOf(shop.app.db).filter(({ template }) => template === 'payment_link')).toHaveLength(1)
})

it.each([
  [['--item', 'nothing:1'], 'items.0'],
  [['--item', 'mug:1', 'shirt/BLUE:1'], 'items.1'],
  [['--item', 'mug:51'], 'items.0.quantity'],
  [['--item', 'last:1'], 'items.0.quantity'],
  [['--item', 'hidden:1'], 'items.0.productId'],
  [['--item', 'mug:1', '--coupon', 'OLD'], 'couponCodes.0'],
  [['--item', 'mug:1', '--country', 'XX'], 'shippingAddress.country'],
  [['--item', 'mug:1', '--shipping-method', 'post'], 'country'],
  [['--item', 'mug:1', '--email', 'gwen'], 'email']
])('a wrong phone order names the field: %j', async (args, field) => {
  const { code, json } = await create(args)
  expect(code).toBe(1)
  expect(Object.keys(json.error.details.fieldErrors)).toContain(field)
})

it.each([[['--item', 'mug']], [['--item', 'mug:0']], [['--item', 'mug:1', '--hold', '3d']], [[]]])(
  'a phone order that is typed wrongly is refused: %j',
  async (args) => {
    expect((await create(args)).code).toBe(2)
  }
)
