import { expect, test } from 'vitest'
import { draft, line, makeProduct, makeUser, makeVariation, move, place } from '../shop/orders/support.ts'
import { sendAll } from '../shop/mailer/support.ts'
import { mailsTo } from '../support/mail-files.ts'
import { openTestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/command-line.ts'

const shippingAddress = {
  firstName: 'Lena',
  lastName: 'Hartmann',
  company: 'Slow Coast',
  address1: 'Hafenstraße 3',
  address2: 'second door',
  postcode: '24103',
  city: 'Kiel',
  state: 'SH',
  country: 'DE',
  phone: '+49 431 555 0100',
  email: 'yard@shop.example'
}

test('an order shows whom to ship it to and what was asked for, and nothing that moves the cursor', async () => {
  using shop = openTestShop()
  const lines = [line(makeProduct(shop.db))]
  const contact = { firstName: 'Lena', lastName: 'Hartmann', companyName: 'Slow Coast', phone: '0431 555' }
  const billingAddress = { city: 'Berlin', country: 'DE' }
  const notes = 'Ring twice,\r\n\u001B[2Jor \u202Eknock'
  const { id } = place(shop.db, draft(lines, { contact, shippingAddress, billingAddress, notes }))
  const shown = await shopstead(shop.dataDir, ['orders', 'show', String(id)])
  expect(shown.stdout).toContain(
    [
      '\nContact: Lena Hartmann, Slow Coast, 0431 555',
      'Ship to:',
      '  Lena Hartmann',
      '  Slow Coast',
      '  Hafenstraße 3',
      '  second door',
      '  24103 Kiel, SH',
      '  DE',
      '  +49 431 555 0100',
      '  yard@shop.example',
      'Bill to:',
      '  Berlin',
      '  DE',
      'Notes:',
      '  Ring twice,',
      '   [2Jor  knock\n'
    ].join('\n')
  )
  expect((await shopstead(shop.dataDir, ['orders', 'show', String(id), '--json'])).json).toMatchObject({
    order: { contact, shippingAddress, billingAddress, notes }
  })
})

test('an order says when and how it was paid', async () => {
  using shop = openTestShop()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))]))
  const run = (...args: string[]) => shopstead(shop.dataDir, ['orders', ...args])
  expect((await run('show', String(id))).stdout).toContain('\nPayment: not started; refunded €0.00\n')
  const paid = await run('paid', String(id))
  expect(paid.stdout).toMatch(/\nPaid \d{4}-\d\d-\d\d \S+Z by transfer or in cash; refunded €0\.00\n/)
  expect((await run('show', String(id), '--json')).json).toMatchObject({
    order: { paidAt: expect.any(String), paidBy: 'by_hand' }
  })
})

test('orders are listed by a product or the SKU of a variation, with the emails of its buyers', async () => {
  using shop = openTestShop()
  const mug = makeProduct(shop.db, { slug: 'mug', sku: 'MUG-1' })
  const shirt = makeProduct(shop.db, { slug: 'shirt' })
  const red = makeVariation(shop.db, shirt, null)
  const buy = (email: string, ...lines: Parameters<typeof line>[]) =>
    place(
      shop.db,
      draft(
        lines.map((args) => line(...args)),
        { email }
      )
    ).id
  const first = buy('lena@shop.example', [mug], [shirt, { variationId: red }])
  const second = buy('gwen@shop.example', [shirt])
  const list = async (product: string) => {
    const { json } = await shopstead(shop.dataDir, ['orders', 'list', '--product', product, '--json'])
    return json['orders']
  }
  expect(await list('shirt')).toMatchObject([
    { id: second, email: 'gwen@shop.example' },
    { id: first, email: 'lena@shop.example' }
  ])
  for (const name of ['mug', 'MUG-1', 'red']) expect(await list(name)).toMatchObject([{ id: first }])
  expect(await list('red')).toHaveLength(1)
  const unknown = await shopstead(shop.dataDir, ['orders', 'list', '--product', 'XL', '--json'])
  expect(unknown).toMatchObject({ code: 1, json: { error: { code: 'NOT_FOUND' } } })
})

test('an operator ships a part of an order, then the rest', async () => {
  using shop = openTestShop()
  const product = makeProduct(shop.db)
  const { id, publicToken } = place(shop.db, draft([line(product, { quantity: 3 }), line(product, { name: 'Lamp' })]))
  move(shop.db, id, 'processing')
  const ship = (...options: string[]) => shopstead(shop.dataDir, ['orders', 'ship', String(id), ...options])
  const part = await ship('--carrier', 'DHL', '--tracking', '00340434', '--items', '1:2', '2:1')
  expect(part.stdout).toMatch(/Shipped [0-9-]+ [0-9:]+Z with DHL 00340434: 2 × Storm lantern, 1 × Lamp\n/)
  const tooMany = await ship('--items', '1:2', '--json')
  expect(tooMany).toMatchObject({ json: { error: { code: 'VALIDATION_FAILED' } } })
  expect((await ship('--items', 'lamp')).code).toBe(2)
  const rest = await ship('--json')
  expect(rest.json).toMatchObject({
    order: {
      status: 'completed',
      shipments: [
        {
          carrier: 'DHL',
          tracking: '00340434',
          url: 'https://www.dhl.com/en/express/tracking.html?AWB=00340434',
          lines: [
            { line: 1, name: 'Storm lantern', quantity: 2 },
            { line: 2, name: 'Lamp', quantity: 1 }
          ]
        },
        { carrier: null, tracking: null, url: null, lines: [{ line: 1, name: 'Storm lantern', quantity: 1 }] }
      ]
    }
  })
  expect(await ship('--json')).toMatchObject({ code: 1, json: { error: { code: 'TRANSITION_REFUSED' } } })
  // Commands use the clock of the system.
  shop.clock.set(Date.now())
  await sendAll(shop)
  const [, first, second] = mailsTo(shop.dataDir, 'guest@shop.example')
  expect(first?.subject).toBe(`A part of your order ${id} at Shopstead Demo is on its way`)
  expect(first?.text).toContain('Tracking number: 00340434\n')
  expect(first?.text).toContain('Track your parcel:\nhttps://www.dhl.com/en/express/tracking.html?AWB=00340434\n')
  expect(first?.text).toContain(`\nView your order:\nhttp://localhost:3000/checkout/done/${publicToken}\n`)
  expect(first?.text).toContain('In this parcel:\n2 × Storm lantern\n1 × Lamp\n')
  expect(second?.subject).toBe(`Your order ${id} at Shopstead Demo is on its way`)
  expect(second?.text).toContain(`View your order:\nhttp://localhost:3000/checkout/done/${publicToken}\n`)
})

test('an order without data about its buyer shows none', async () => {
  using shop = openTestShop()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { contact: {}, billingAddress: null }))
  const shown = await shopstead(shop.dataDir, ['orders', 'show', String(id)])
  expect(shown.stdout).not.toMatch(/Contact|Ship to|Bill to|Notes|undefined|null/)
  expect((await shopstead(shop.dataDir, ['orders', 'show', String(id), '--json'])).json).toMatchObject({
    order: { contact: {}, shippingAddress: null, billingAddress: null, notes: null }
  })
})

test("orders are listed by an email, a guest's as well as its account's", async () => {
  using shop = openTestShop()
  const lines = [line(makeProduct(shop.db))]
  const asGuest = place(shop.db, draft(lines, { email: 'Lena@Shop.example' })).id
  place(shop.db, draft(lines, { email: 'other@shop.example' }))
  const list = async (user: string, ...words: string[]) => {
    const { code, json } = await shopstead(shop.dataDir, ['orders', 'list', '--user', user, '--json', ...words])
    const { orders = [], error } = json as { orders?: { id: number }[]; error?: unknown }
    return { code, error, ids: orders.map(({ id }) => id) }
  }
  expect((await list('lena@shop.EXAMPLE')).ids).toEqual([asGuest])
  const lena = makeUser(shop.db, 'lena@shop.example', false)
  const mine = place(shop.db, draft(lines, { userId: lena.id, email: lena.email })).id
  move(shop.db, mine, 'processing')
  expect((await list('lena@shop.example')).ids).toEqual([mine, asGuest])
  expect((await list('lena@shop.example', '--status', 'pending')).ids).toEqual([asGuest])
  expect((await list(String(lena.id))).ids).toEqual([mine])
  expect(await list('nobody@shop.example')).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
})

test('a known email without an order, or without one in the state, has an empty list', async () => {
  using shop = openTestShop()
  makeUser(shop.db, 'lena@shop.example')
  place(shop.db, draft([line(makeProduct(shop.db))], { email: 'guest@shop.example' }))
  const list = (...words: string[]) => shopstead(shop.dataDir, ['orders', 'list', '--json', '--user', ...words])
  expect(await list('lena@shop.example')).toMatchObject({ code: 0, json: { orders: [] } })
  expect(await list('guest@shop.example', '--status', 'completed')).toMatchObject({ code: 0, json: { orders: [] } })
})
