import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { findShipment, linesOf } from '../shipments/find.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailFact } from './email.ts'
import { addressBlocks, getOrderWithEmail, viewOrder } from './order-emails.ts'

/**
 * The notice that an order, or a part of it, is on its way, with the carrier's tracking page; or that it is ready to be
 * picked up.
 *
 * @throws ObsoleteEmailError when the shipment or the order does not exist, or its buyer is erased
 */
export function orderShippedEmail(shop: ShopContext, data: MailData['order_shipped']): Email {
  const order = getOrderWithEmail(shop, data.orderId)
  const shipment = findShipment(shop.db, data.shipmentId)
  if (shipment === undefined) throw new ObsoleteEmailError('the shipment does not exist')
  const name = setting(shop.db, 'shop.name')
  const { isPart } = data
  const what = isPart ? `A part of your order ${order.id}` : `Your order ${order.id}`
  const { carrier, tracking, url } = shipment
  const goods = linesOf(shop.db, shipment).map((line) => `${line.quantity} × ${line.name}`)
  if (order.shippingMethod?.pickup === true) {
    return {
      subject: `${what} at ${name} is ready to be picked up`,
      opening: [
        `You can pick up ${isPart ? 'a part of your order' : 'your order'} in our shop. Please bring the order number.`,
        ...(isPart ? ['We will email you when the rest is ready.'] : [])
      ],
      facts: [{ label: 'Order number', value: String(order.id) }],
      action: viewOrder(shop, order),
      blocks: [{ title: 'Ready for you', lines: goods }],
      closing: [],
      links: {}
    }
  }
  return {
    subject: `${what} at ${name} is on its way`,
    opening: [
      `We have shipped ${isPart ? 'a part of your order' : 'your order'}${carrier === null ? '' : ` with ${carrier}`}.`,
      ...(isPart ? ['We will email you when the rest is on its way.'] : [])
    ],
    facts: [{ label: 'Order number', value: String(order.id) }, ...trackingFacts(tracking)],
    action: url === null ? viewOrder(shop, order) : { label: 'Track your parcel', url },
    blocks: [
      { title: 'In this parcel', lines: goods },
      ...(order.totalMinor > 0 ? addressBlocks(order) : []).filter(({ title }) => title === 'Shipping address')
    ],
    ...(url === null ? {} : { also: viewOrder(shop, order) }),
    closing: [],
    links: {}
  }
}

function trackingFacts(tracking: string | null): EmailFact[] {
  return tracking === null ? [] : [{ label: 'Tracking number', value: tracking }]
}
