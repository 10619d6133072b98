import { quay } from './addresses.ts'
import type { Purchase } from './month.ts'
import type { RunningShop } from './running-shop.ts'

/** A buyer of the month orders on the website. Returns the number of the order. */
export async function orderOf(
  { app: { db }, visitor }: RunningShop,
  name: string,
  { items, pickup, byGiftCard, unpaid, email }: Purchase,
  giftCard: string
): Promise<string> {
  const lines = items.map(([what, quantity]) => {
    const [slug, sku] = what.split('/')
    const productId = db.sqlite.prepare('SELECT id FROM products WHERE slug = ?').pluck().get(slug)
    const variationId = db.sqlite
      .prepare('SELECT id FROM variations WHERE sku = ?')
      .pluck()
      .get(sku ?? '')
    return { productId, quantity, ...(variationId === undefined ? {} : { variationId }) }
  })
  const { status, data, text } = await visitor().post('/store/checkout-session', {
    ...(unpaid === true
      ? { strategy: 'redirect_to_store' }
      : { strategy: 'token_handoff', paymentToken: 'pm_card_visa' }),
    returnUrl: 'https://site.example/thanks',
    items: lines,
    customer: { email: email ?? `${name}@shop.example` },
    immediateDelivery: true,
    giftCards: byGiftCard === true ? [giftCard] : [],
    ...(pickup === true ? { shippingMethod: 'pickup' } : { shippingAddress: quay, shippingMethod: 'parcel' })
  })
  if (status !== 200) throw new Error(`${name} could not order: ${text}`)
  return String(data.orderId)
}
