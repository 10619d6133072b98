import { expect, test } from 'vitest'
import { draft, line, makeProduct, place } from '../shop/orders/temporary-shop.ts'
import { openTestShop } from '../support/shop-context.ts'
import { shopstead } from '../support/shopstead.ts'

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

test('an order of which the buyer said nothing shows nothing of him', async () => {
  using shop = openTestShop()
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { contact: {}, billingAddress: null }))
  const shown = await shopstead(shop.dataDir, ['orders', 'show', String(id)])
  expect(shown.stdout).not.toMatch(/Contact|Ship to|Bill to|Notes|undefined|null/)
  expect((await shopstead(shop.dataDir, ['orders', 'show', String(id), '--json'])).json).toMatchObject({
    order: { contact: {}, shippingAddress: null, billingAddress: null, notes: null }
  })
})
