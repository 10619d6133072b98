import { describe, expect, it } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { AppError } from '../../../src/errors.ts'
import { forgetTracking, listShipments } from '../../../src/shop/shipments/find.ts'
import { shipmentInput, shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { findOrder, historyOf } from '../../../src/shop/orders/find.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'
import { draft, eventsOf, force, line, mailsOf, makeProduct, makeUser, move, place } from '../orders/support.ts'

/** A paid order of three lanterns, a download and a lamp. */
function paidOrder(db: TestDb, changes: Parameters<typeof draft>[1] = {}): number {
  const [product, download] = [makeProduct(db), makeProduct(db, { type: 'digital' })]
  const lines = [
    line(product, { quantity: 3 }),
    line(download, { name: 'Pattern', type: 'digital' }),
    line(product, { name: 'Lamp' })
  ]
  const { id } = place(db, draft(lines, changes))
  move(db, id, 'processing')
  return id
}

const ship = (db: TestDb, id: number, input: object = {}) =>
  shipOrder(db, id, shipmentInput.parse(input), 'operator', noon + 5000)
const shipped = (db: TestDb, id: number) =>
  listShipments(db, id).map(({ lines }) => lines.map((one) => `${one.line}:${one.quantity}`))
const statusOf = (db: TestDb, id: number) => findOrder(db, id)?.status
const shippedMails = (db: TestDb) => mailsOf(db).filter(({ template }) => template === 'order_shipped')

function refusal(act: () => void): Pick<AppError, 'code' | 'details'> {
  try {
    act()
  } catch (error) {
    return error as AppError
  }
  throw new Error('it was not refused')
}

describe('a shipment', () => {
  it('of everything completes the order, with an event and an email', () => {
    const db = emptyShop()
    const id = paidOrder(db)
    ship(db, id, { carrier: ' dhl ', tracking: '0034 0434' })
    expect(statusOf(db, id)).toBe('completed')
    expect(listShipments(db, id)).toEqual([
      {
        shippedAt: new Date(noon + 5000).toISOString(),
        carrier: 'dhl',
        tracking: '0034 0434',
        url: 'https://www.dhl.com/en/express/tracking.html?AWB=0034%200434',
        lines: [
          { line: 1, name: 'Storm lantern', quantity: 3 },
          { line: 3, name: 'Lamp', quantity: 1 }
        ]
      }
    ])
    expect(historyOf(db, id).at(-1)).toMatchObject({
      to: 'completed',
      by: 'operator',
      reason: 'shipment 1: all is shipped'
    })
    expect(eventsOf(db, 'order.shipped')).toEqual(['order.shipped'])
    expect(shippedMails(db)).toEqual([
      {
        template: 'order_shipped',
        recipient: 'guest@shop.example',
        data: { orderId: id, shipmentId: 1, isPart: false }
      }
    ])
  })

  it('of a part leaves the order in processing, and the rest can be shipped later', () => {
    const db = emptyShop()
    const id = paidOrder(db)
    ship(db, id, { items: [{ line: 1, quantity: 2 }] })
    expect(statusOf(db, id)).toBe('processing')
    expect(historyOf(db, id).at(-1)).toMatchObject({
      from: 'processing',
      to: 'processing',
      reason: 'shipment 1: a part is shipped'
    })
    ship(db, id)
    expect(statusOf(db, id)).toBe('completed')
    expect(shipped(db, id)).toEqual([['1:2'], ['1:1', '3:1']])
    expect(shippedMails(db).map(({ data }) => data)).toMatchObject([{ isPart: true }, { isPart: false }])
  })

  it('cannot be made twice', () => {
    const db = emptyShop()
    const id = paidOrder(db)
    ship(db, id)
    expect(refusal(() => ship(db, id)).code).toBe('TRANSITION_REFUSED')
    expect(shippedMails(db)).toHaveLength(1)
  })

  it('is refused when nothing is left to ship', () => {
    const db = emptyShop()
    const id = paidOrder(db)
    ship(db, id)
    force(db, id, 'processing')
    expect(refusal(() => ship(db, id)).code).toBe('CONFLICT')
    expect(shippedMails(db)).toHaveLength(1)
  })

  it.each([
    ['a line that does not exist', [{ line: 4, quantity: 1 }], 'The order has no line 4.'],
    ['a line that is not shipped', [{ line: 2, quantity: 1 }], 'Line 2 (Pattern) is not shipped.'],
    ['more than is left', [{ line: 1, quantity: 4 }], 'Of line 1 (Storm lantern), 3 are left to ship.'],
    [
      'the same line twice',
      [
        { line: 1, quantity: 2 },
        { line: 1, quantity: 2 }
      ],
      'Line 1 is given twice.'
    ]
  ])('is refused for %s, and stores nothing', (_what, items, message) => {
    const db = emptyShop()
    const id = paidOrder(db)
    expect(refusal(() => ship(db, id, { items })).details).toEqual({ fieldErrors: { items: [message] } })
    expect([shipped(db, id), shippedMails(db), statusOf(db, id)]).toEqual([[], [], 'processing'])
  })

  it.each(['pending', 'on-hold', 'failed', 'cancelled'] as const)('is refused for an order that is %s', (status) => {
    const db = emptyShop()
    const { id } = place(db, draft([line(makeProduct(db))]))
    if (status !== 'pending') move(db, id, status)
    expect(refusal(() => ship(db, id))).toMatchObject({ code: 'TRANSITION_REFUSED', details: { from: status } })
  })

  it('has the tracking page of the operator before that of the carrier, and none for an unknown carrier', () => {
    const db = emptyShop()
    setSetting(db, 'shipping.trackingUrls', 'Post=https://post.example/?id={tracking}&n={tracking}', noon)
    const urlOf = (input: object) => {
      const id = paidOrder(db)
      ship(db, id, input)
      return listShipments(db, id)[0]?.url
    }
    expect(urlOf({ carrier: 'POST', tracking: 'a&b' })).toBe('https://post.example/?id=a%26b&n=a%26b')
    expect(urlOf({ carrier: 'Post', tracking: '1', url: 'https://label.example/1' })).toBe('https://label.example/1')
    expect([urlOf({ carrier: 'Other', tracking: '1' }), urlOf({ carrier: 'Post' }), urlOf({ tracking: '1' })]).toEqual([
      null,
      null,
      null
    ])
  })

  it.each([
    ['carrier', 50],
    ['tracking', 100]
  ] as const)('has a %s of at most %d characters, in any script, on one line', (field, most) => {
    const longest = '📦'.repeat(most)
    expect(shipmentInput.parse({ [field]: longest })[field]).toBe(longest)
    expect(shipmentInput.parse({ [field]: ` ${longest} ` })[field]).toBe(longest)
    expect(shipmentInput.safeParse({ [field]: `${longest}x` }).success).toBe(false)
    expect(shipmentInput.safeParse({ [field]: 'two\nlines' }).success).toBe(false)
    expect(shipmentInput.parse({ [field]: ' ' })[field]).toBeNull()
  })

  it('loses its tracking number when the buyer is erased', () => {
    const db = emptyShop()
    const lena = makeUser(db, 'lena@shop.example')
    const others = paidOrder(db, { email: 'other@shop.example' })
    const own = paidOrder(db, { userId: lena.id, email: lena.email })
    const asGuest = paidOrder(db, { email: lena.email })
    for (const id of [others, own, asGuest]) ship(db, id, { carrier: 'UPS', tracking: `1Z${id}` })
    write(db, (tx) => forgetTracking(tx, lena))
    const kept = [others, own, asGuest].map((id) => listShipments(db, id).map(({ tracking, url }) => tracking ?? url))
    expect(kept).toEqual([[`1Z${others}`], [null], [null]])
  })
})
