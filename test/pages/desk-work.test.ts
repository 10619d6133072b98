import { afterAll, describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { applyCatalogFile } from '../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../src/shop/catalog/import/read-file.ts'
import { editProduct } from '../../src/shop/catalog/manage/edit-product.ts'
import { exportProduct } from '../../src/shop/catalog/export-catalog.ts'
import { getProduct } from '../../src/shop/catalog/products.ts'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { listNotes } from '../../src/shop/customers/notes.ts'
import { makeUser } from '../shop/orders/support.ts'
import { getOrder, itemsOf } from '../../src/shop/orders/find.ts'
import { listReturns } from '../../src/shop/shipments/returns.ts'
import { setting } from '../../src/shop/settings/settings.ts'
import { quay } from '../support/addresses.ts'
import { enableDesk, hiddenOf, paidOrder, personAtDesk } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'

const shop = await startShop()
const { app } = shop
enableDesk(app)
afterAll(() => shop.stop())

const now = (): number => app.clock.now()
const entryOf = (slug: string) => exportProduct(app.db, getProduct(app.db, slug), 'EUR')

/** A jacket in three sizes. */
function addJacket(slug: string): void {
  const variations = ['S', 'M', 'L'].map((size, index) => ({
    sku: `${slug}-${size}`.toUpperCase(),
    options: { Size: size },
    price: '80.00',
    stock: 5,
    default: index === 0
  }))
  const file = { products: [{ slug, name: 'Jacket', price: '80.00', variations }] }
  const place = { currency: 'EUR', timeZone: 'UTC' }
  write(app.db, (tx) =>
    applyCatalogFile(tx, readCatalogFile(JSON.stringify(file), place).file, { keepStock: false }, now())
  )
}

describe('a product at the desk', () => {
  it('changes only in the fields that were typed, and an empty one removes its value', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const before = entryOf('lamp')
    const form = await carla.get('/desk/products/lamp/edit')
    expect(form.html).toContain('value="30.00"')
    const fields = {
      name: 'Lamp',
      price: '45.5',
      salePrice: '',
      description: 'Tin.',
      categories: 'Light, Gifts > Small'
    }
    expect((await carla.post('/desk/products/lamp/edit', { ...hiddenOf(form.html), ...fields })).location).toBe(
      '/desk/products/lamp?done'
    )
    expect(entryOf('lamp')).toEqual({
      ...before,
      price: 45.5,
      salePrice: null,
      description: 'Tin.',
      categories: ['Light', 'Gifts', 'Small']
    })
  })

  it('is refused with the field when a price is none, and keeps what was typed', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const form = await carla.get('/desk/products/mug/edit')
    const sent = { ...hiddenOf(form.html), name: 'Mug with a dent', price: 'cheap' }
    const { status, html } = await carla.post('/desk/products/mug/edit', sent)
    expect(status).toBe(422)
    expect(html).toContain('value="Mug with a dent"')
    expect(html).toContain('id="price-error"')
    expect(entryOf('mug').name).toBe('Mug')
  })

  it('is refused to the second person when the first has changed it', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const form = await carla.get('/desk/products/print/edit')
    editProduct(app, 'print', { price: '10.99' }, now())
    const { status, html } = await carla.post('/desk/products/print/edit', { ...hiddenOf(form.html), price: '8.00' })
    expect([status, entryOf('print').price]).toEqual([409, 10.99])
    expect(html).toContain('shopstead offers set print')
  })

  it('takes a grid of variations as a whole: one wrong price changes none', async () => {
    addJacket('jacket')
    const carla = await personAtDesk(shop, 'catalogue')
    const path = '/desk/products/jacket/variations'
    const sent = async (fields: Record<string, string>) =>
      carla.post(path, { ...hiddenOf((await carla.get(path)).html), ...fields })
    expect((await sent({ 'price-0': '85.00', 'price-1': '-3' })).status).toBe(422)
    expect(entryOf('jacket').variations.map(({ price }) => price)).toEqual([80, 80, 80])
    expect((await sent({ 'price-0': '85.00', 'sale-2': '70', 'stock-1': '9' })).status).toBe(303)
    expect(entryOf('jacket').variations.map(({ price, salePrice, stock }) => [price, salePrice, stock])).toEqual([
      [85, null, 5],
      [80, null, 9],
      [80, 70, 5]
    ])
  })

  it('is counted up and down, and never below zero', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const add = async (units: string): Promise<number> => {
      const path = '/desk/products/last/stock'
      return (await carla.post(path, { ...hiddenOf((await carla.get(path)).html), add: units })).status
    }
    expect([await add('4'), await add('-2'), await add('-99'), await add('a few')]).toEqual([303, 303, 422, 422])
    expect(entryOf('last').stock).toBe(3)
  })

  it('gets a picture that was sent, and refuses a file that is none', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    const path = '/desk/products/mug/picture'
    const send = async (content: string): Promise<number> => {
      const body = new FormData()
      for (const [name, value] of Object.entries(hiddenOf((await carla.get(path)).html))) body.append(name, value)
      body.append('picture', new Blob([content]), 'IMG_1.jpg')
      return (await carla.browser.fetch(`${shop.url}${path}`, { method: 'POST', body })).status
    }
    expect(await send('no picture')).toBe(422)
    expect(await send('')).toBe(422)
    expect(entryOf('mug')).not.toHaveProperty('images')
  })

  it('has an address that is not UTF-8, or of no product: both are unknown', async () => {
    const owner = await personAtDesk(shop, 'owner')
    const paths = [
      '/desk/products/nothing',
      '/desk/discounts/coupons/%E0%A4',
      '/desk/customers/999999',
      '/desk/guests/1'
    ]
    for (const path of paths) expect([path, (await owner.get(path)).status]).toEqual([path, 404])
  })
})

describe('people, discounts and settings at the desk', () => {
  it('finds a guest by an email, exports what is stored, and erases it after a confirmation', async () => {
    const id = paidOrder(app)
    const owner = await personAtDesk(shop, 'owner')
    expect((await owner.get('/desk/customers?search=lena@example.com')).html).toContain(`/desk/guests/${id}`)
    const exported = await owner.send(`/desk/guests/${id}/export`)
    expect(JSON.parse(exported.html)).toMatchObject({ orders: [{ id }] })
    expect((await owner.send(`/desk/guests/${id}/erase`)).html).toContain('The person is erased')
    expect((await owner.get(`/desk/guests/${id}`)).status).toBe(404)
  })

  it('makes and ends a coupon, and asks for a percentage or an amount', async () => {
    const carla = await personAtDesk(shop, 'catalogue')
    expect((await carla.send('/desk/discounts/coupon', { code: 'SPRING' })).status).toBe(422)
    expect(
      (await carla.send('/desk/discounts/coupon', { code: 'SPRING', percent: '12.5', maxUses: '3', exclusive: 'on' }))
        .status
    ).toBe(303)
    expect((await carla.get('/desk/discounts?search=spr')).html).toMatch(/12\.5 %[\s\S]*With no other coupon/)
    await carla.send('/desk/discounts/coupons/SPRING')
    expect(
      app.db.sqlite.prepare("SELECT enabled, percent_bps, max_uses, exclusive FROM coupons WHERE code = 'SPRING'").get()
    ).toEqual({ enabled: 0, percent_bps: 1250, max_uses: 3, exclusive: 1 })
  })

  it('changes a setting after the passkey, refuses a wrong value, and resets it', async () => {
    const owner = await personAtDesk(shop, 'owner')
    expect((await owner.send('/desk/settings/store.lowStock', { value: 'some' })).status).toBe(422)
    await owner.send('/desk/settings/store.lowStock', { value: '9' })
    expect(setting(app.db, 'store.lowStock')).toBe(9)
    await owner.send('/desk/settings/store.lowStock', { reset: 'on' })
    expect(setting(app.db, 'store.lowStock')).toBe(5)
    expect((await owner.get('/desk/settings/limits.login_ip')).status).toBe(404)
    const links = [...(await owner.get('/desk/settings')).html.matchAll(/href="(\/desk\/settings\/[^"]+)"/g)]
    for (const [, path = ''] of links) expect([path, (await owner.get(path)).status]).toEqual([path, 200])
  })

  it('enters an order by phone, and names the line that is wrong', async () => {
    const berta = await personAtDesk(shop, 'orders')
    const wrong = await berta.send('/desk/orders/new', { email: 'ann@example.com', items: 'mug:2\nlamp' })
    expect([wrong.status, wrong.html.includes('lamp: ')]).toEqual([422, true])
    const made = await berta.send('/desk/orders/new', { email: 'ann@example.com', items: 'mug:2' })
    expect(made.location).toMatch(/^\/desk\/orders\/\d+\?done$/)
    expect((await berta.get(made.location ?? '')).html).toContain('€25.00')
  })

  it('shows each report as a page and as a file', async () => {
    const rita = await personAtDesk(shop, 'reports')
    const page = await rita.get('/desk/reports/sales?from=2026-01-01&to=2026-12-31')
    expect(page.html).toContain('/desk/reports/sales.csv?from=2026-01-01&amp;to=2026-12-31')
    const file = await rita.get('/desk/reports/sales.csv?from=2026-01-01&to=2026-12-31')
    expect([file.status, file.headers.get('content-type'), file.html.split('\n')[0]]).toEqual([
      200,
      'text/csv; charset=utf-8',
      expect.stringContaining('currency')
    ])
    expect((await rita.get('/desk/reports/sales?from=yesterday')).status).toBe(400)
    expect((await rita.get('/desk/reports/nothing')).status).toBe(404)
  })

  it('shows the journal of a quarter, its files for other programs, and what they lack', async () => {
    const rita = await personAtDesk(shop, 'reports')
    const quarter = 'quarter=2026Q4'
    const page = await rita.get(`/desk/reports/journal?${quarter}`)
    expect(page.html).toContain('name="quarter"')
    expect(page.html).toContain(`/desk/reports/journal.csv?${quarter}&amp;format=datev`)
    expect(page.html).toContain('Download for DATEV')
    expect(page.html).toContain('shopstead report journal --quarter 2026Q4')
    const batch = await rita.get(`/desk/reports/journal.csv?quarter=2019Q1&format=datev`)
    expect([batch.status, batch.headers.get('content-type')]).toEqual([200, 'text/csv; charset=windows-1252'])
    expect(batch.headers.get('content-disposition')).toContain('journal-datev.csv')
    expect((await rita.get(`/desk/reports/journal.csv?${quarter}&format=sage`)).status).toBe(404)
    expect((await rita.get('/desk/reports/journal?quarter=2026Q5')).status).toBe(400)
    const abroad = await rita.get('/desk/reports/oss')
    expect(abroad.status).toBe(409)
    expect(abroad.html).toContain('The One-Stop-Shop is for shops in the EU, and shop.country is not set.')
  })
})

describe('an order that changes at the desk', () => {
  it('gets another address, email and phone, and only what was typed', async () => {
    const id = paidOrder(app)
    const berta = await personAtDesk(shop, 'orders')
    const path = `/desk/orders/${id}/edit`
    expect((await berta.get(path)).html).toContain('value="Lena"')
    const same = await berta.send(path, { firstName: 'Lena', lastName: 'Blue', email: 'lena@example.com' })
    expect([same.status, same.html.includes('Nothing to change')]).toEqual([422, true])
    const wrong = await berta.send(path, { email: 'lena at home', phone: '1' })
    expect([
      wrong.status,
      wrong.html.includes('id="email-error"'),
      wrong.html.includes('value="lena at home"')
    ]).toEqual([422, true, true])
    const place = { address1: 'Quay 8', postcode: '24103', city: 'Kiel', country: 'DE' }
    expect((await berta.send(path, { email: 'lena@new.example', lastName: 'Red', phone: '', ...place })).status).toBe(
      303
    )
    expect(getOrder(app.db, id)).toMatchObject({
      email: 'lena@new.example',
      contact: { firstName: 'Lena', lastName: 'Red' },
      shippingAddress: { address1: 'Quay 8', city: 'Kiel' }
    })
    const label = await berta.get(`/desk/orders/${id}/label`)
    expect(label.html.replaceAll(/<[^>]+>/g, '\n')).toMatch(/Lena Red\s+Quay 8\s+24103 Kiel/)
  })

  it('loses a line for its money and gets another one for a link, and shows the command', async () => {
    const id = paidOrder(app)
    const berta = await personAtDesk(shop, 'orders')
    const path = `/desk/orders/${id}/goods`
    const form = await berta.get(path)
    const sent = { ...hiddenOf(form.html), 'line-1': '2', 'line-2': '0', items: 'mug:1' }
    const asking = await berta.post(path, sent)
    expect(asking.html).toContain(`shopstead orders edit ${id} --remove 2 --add mug:1`)
    const lampMinor = itemsOf(app.db, id)[1]?.totalMinor ?? 0
    expect(asking.html).toContain(`€${((lampMinor - 1250) / 100).toFixed(2)} goes back to the buyer`)
    expect(getOrder(app.db, id).refundedMinor).toBe(0)
    expect((await berta.confirm(path, asking)).status).toBe(303)
    expect(getOrder(app.db, id).refundedMinor).toBe(lampMinor - 1250)
    expect((await berta.get(`/desk/orders/${id}`)).html).toMatch(/Orders that add to it[\s\S]*desk\/orders\/\d+/)
    const wrong = await berta.send(path, { 'line-1': 'all' })
    expect([wrong.status, wrong.html.includes('id="line-1-error"')]).toEqual([422, true])
  })

  it('is refunded to its gift card first, and says what the shop pays back itself', async () => {
    const berta = await personAtDesk(shop, 'orders')
    const asked = async (amount: number, verb = 'refund', fields = {}) => {
      const { card } = issueByOperator(app.db, { amount, reason: 'test' }, now())
      const path = `/desk/orders/${paidOrder(app, { items: ['mug'], giftCardIds: [card.id] })}/${verb}`
      return (await berta.post(path, { ...hiddenOf((await berta.get(path)).html), ...fields })).html
    }
    expect(await asked(10)).toMatch(/Refund €25\.00 of order \d+\?.* You pay €15\.00 of it back yourself\./)
    expect(await asked(10, 'goods', { 'line-1': '0' })).toMatch(
      /€25\.00 goes back.* You pay €15\.00 of it back yourself\./
    )
    const whole = await asked(30)
    expect(whole).toMatch(/Refund €25\.00 of order \d+\?/)
    expect(whole).not.toContain('yourself')
  })

  it('gets goods back: expected, received with an exchange, and refused when it changed meanwhile', async () => {
    const id = paidOrder(app)
    const berta = await personAtDesk(shop, 'orders')
    await berta.send(`/desk/orders/${id}/ship`)
    const nothing = await berta.send(`/desk/orders/${id}/return`)
    expect([nothing.status, nothing.html.includes('how many of an item')]).toEqual([422, true])
    await berta.send(`/desk/orders/${id}/return`, { 'item-1': '1', exchange: 'print:1' })
    expect(listReturns(app.db, id)).toMatchObject([{ state: 'expected', lines: [{ line: 1, quantity: 1 }] }])
    expect((await berta.get('/desk')).html).toContain('Expected back')
    const path = `/desk/orders/${id}/receive`
    const form = await berta.get(path)
    expect(form.html).toContain('print:1')
    const sent = { ...hiddenOf(form.html), 'item-1': '1', exchange: 'print:1', restock: 'on' }
    const asking = await berta.post(path, sent)
    expect(asking.html).toContain(`shopstead orders return ${id} --item 1:1 --exchange print:1 --received --restock`)
    const done = await berta.confirm(path, asking)
    expect([done.status, done.location]).toEqual([303, `/desk/orders/${id}?done`])
    expect(listReturns(app.db, id)).toMatchObject([{ state: 'exchanged' }])
    expect((await berta.post(path, hiddenOf(asking.html))).status).toBe(409)
    const reason = 'r'.repeat(501)
    for (const verb of ['refund', 'receive']) {
      const long = await berta.send(`/desk/orders/${id}/${verb}`, { 'item-2': '1', reason })
      expect([verb, long.status, long.html.includes('id="reason-error"')]).toEqual([verb, 422, true])
    }
    await berta.send(`/desk/orders/${id}/return`, { 'item-2': '1' })
    expect((await berta.send(`/desk/orders/${id}/drop`)).status).toBe(303)
    expect(listReturns(app.db, id)).toMatchObject([{ state: 'exchanged' }, { state: 'dropped' }])
  })

  it('is found by a product in it, has a slip among all, and people who want news are a file', async () => {
    const [first, other] = [
      paidOrder(app, { items: ['lamp'], shippingAddress: quay }),
      paidOrder(app, { items: ['mug'] })
    ]
    const anna = await personAtDesk(shop, 'owner')
    const found = await anna.get('/desk/orders?product=lamp')
    expect([found.html.includes(`/desk/orders/${first}"`), found.html.includes(`/desk/orders/${other}"`)]).toEqual([
      true,
      false
    ])
    expect(found.html).toContain('shopstead orders list --product lamp')
    expect((await anna.get('/desk/orders?product=nothing')).status).toBe(404)
    expect((await anna.get('/desk/pack/slips')).html).toContain(`Order ${first}`)
    const { id } = makeUser(app.db, 'news@shop.example')
    app.db.sqlite.exec(`UPDATE users SET marketing_opt_in = 'yes', email_verified_at = 1 WHERE id = ${id}`)
    const file = await anna.send('/desk/customers/news')
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(file.html).toMatch(/^email,name[^]*news@shop\.example[^]*\/unsubscribe\//)
  })

  it('and its buyer get notes, which the pages of the desk show as text', async () => {
    const id = paidOrder(app)
    const berta = await personAtDesk(shop, 'orders')
    const path = `/desk/orders/${id}/note`
    expect((await berta.send(path, { text: ' ' })).status).toBe(422)
    await berta.send(path, { text: 'Calls <b>first</b>' })
    expect((await berta.get(`/desk/orders/${id}`)).html).toContain('Calls &lt;b&gt;first&lt;/b&gt;')
    const { id: userId } = makeUser(app.db, 'late@shop.example')
    await berta.send(`/desk/customers/${userId}/note`, { text: 'Pays late' })
    expect((await berta.get(`/desk/customers/${userId}`)).html).toContain('Pays late')
    expect(listNotes(app.db, { userId })).toMatchObject([{ by: expect.stringMatching(/^desk:\d+$/) }])
  })
})
