import type { MailData } from '../mail/queue.ts'
import type { ShopContext } from '../context.ts'
import { wordsOf } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { findShipment, linesOf, shipmentsInParcel } from '../shipments/find.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
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
  const { t } = wordsOf(shop)
  const about = { order: order.id, shop: setting(shop.db, 'shop.name') }
  const { isPart } = data
  const { carrier, tracking, url } = shipment
  const goods = shipmentsInParcel(shop.db, shipment)
    .flatMap((each) => linesOf(shop.db, each))
    .map((line) => `${line.quantity} × ${line.name}`)
  const number = { label: t('mail.orderNumber'), value: String(order.id) }
  if (order.shippingMethod?.pickup === true) {
    return {
      subject: t(isPart ? 'mail.pickup.subjectPart' : 'mail.pickup.subject', about),
      opening: [t(isPart ? 'mail.pickup.textPart' : 'mail.pickup.text'), ...(isPart ? [t('mail.pickup.rest')] : [])],
      facts: [number],
      action: viewOrder(shop, order),
      blocks: [{ title: t('mail.pickup.ready'), lines: goods }],
      closing: [],
      links: {}
    }
  }
  const text =
    carrier === null
      ? t(isPart ? 'mail.shipped.textPart' : 'mail.shipped.text')
      : t(isPart ? 'mail.shipped.withPart' : 'mail.shipped.with', { carrier })
  return {
    subject: t(isPart ? 'mail.shipped.subjectPart' : 'mail.shipped.subject', about),
    opening: [text, ...(isPart ? [t('mail.shipped.rest')] : [])],
    facts: [number, ...(tracking === null ? [] : [{ label: t('mail.shipped.tracking'), value: tracking }])],
    action: url === null ? viewOrder(shop, order) : { label: t('mail.shipped.track'), url },
    blocks: [
      { title: t('mail.shipped.parcel'), lines: goods },
      ...(order.totalMinor > 0 ? addressBlocks(shop, { ...order, billingAddress: null }) : [])
    ],
    ...(url === null ? {} : { also: viewOrder(shop, order) }),
    closing: [],
    links: {}
  }
}
