import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import { insertOrder } from '../../../src/shop/orders/create-order.ts'

// Writes about 300 orders a second and prints each id after the commit, as a busy server in its own process would.
// Usage: node order-writer.ts DATABASE PRODUCT_ID
const [file = '', productId = '0'] = process.argv.slice(2)
const db = openDatabase(file)
const line = {
  path: 'items.0',
  productId: Number(productId),
  variationId: null,
  name: 'Lantern',
  sku: null,
  type: 'physical' as const,
  taxClass: 'standard' as const,
  weightGrams: null,
  grants: [],
  quantity: 1,
  listPriceMinor: null,
  unitPriceMinor: 1250,
  discountMinor: 0,
  totalMinor: 1250
}
for (;;) {
  for (let count = 0; count < 3; count += 1) {
    const { id } = write(db, (tx) =>
      insertOrder(
        tx,
        {
          userId: null,
          email: 'guest@shop.example',
          contact: {},
          billingAddress: null,
          shippingAddress: null,
          vatId: null,
          vatCheck: null,
          language: null,
          notes: null,
          returnUrl: null,
          cancelUrl: null,
          strategy: 'redirect_to_store',
          holdMinutes: 60,
          currency: 'EUR',
          lines: [line],
          coupons: [],
          shipping: null,
          attribution: {
            sourceType: 'typein',
            utmSource: null,
            utmMedium: null,
            utmCampaign: null,
            utmContent: null,
            marketingUtmSource: null,
            marketingUtmMedium: null,
            marketingUtmCampaign: null,
            marketingUtmContent: null,
            candidates: [],
            creditedBy: null,
            credit: null
          }
        },
        Date.now()
      )
    )
    process.stdout.write(`${id}\n`)
  }
  await sleep(8)
}
