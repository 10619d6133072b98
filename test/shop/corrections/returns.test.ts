import { describe, expect, it } from 'vitest'
import { askForReturn, planReturn, settleReturn } from '../../../src/shop/corrections/settle-return.ts'
import type { ReceivedGoods } from '../../../src/shop/corrections/settle-return.ts'
import { declareWithdrawal } from '../../../src/shop/declarations/declare.ts'
import { dueMinor } from '../../../src/shop/orders/refunds/credits.ts'
import { getOrder, historyOf, itemsOf } from '../../../src/shop/orders/find.ts'
import { listRefunds } from '../../../src/shop/orders/refunds/refund-lines.ts'
import { cancelOrder } from '../../../src/shop/payments/end-hold.ts'
import { refundOrder } from '../../../src/shop/payments/refund.ts'
import { listWarnings } from '../../../src/shop/payments/warnings.ts'
import { shipOrder } from '../../../src/shop/shipments/ship-order.ts'
import { dropReturn, listAllReturns, listReturns } from '../../../src/shop/shipments/returns.ts'
import { eventsOf, mailsOf } from '../orders/support.ts'
import { openCounter } from './counter.ts'

const { till, item, paid, payDue, change, linesOf, packed, shipAll, mail, expectBooked } = await openCounter()
const { app } = till.shop
const one = [{ line: 1, quantity: 1 }]
const ask = (id: number, goods: Pick<ReceivedGoods, 'items' | 'exchange'>) => askForReturn(app, id, goods, 'operator')
const receive = (id: number, goods: Partial<ReceivedGoods> = {}) =>
  settleReturn(app, id, { holdMinutes: 60, ...goods }, 'operator')
const statesOf = (id: number) => listReturns(app.db, id).map(({ state }) => state)

async function shipped(slug: string, quantity: number, body: object = {}): Promise<number> {
  const id = await paid(slug, quantity, body)
  shipAll()
  return id
}

describe('goods that come back', () => {
  it('are expected, then received and refunded with their tax, and go to the stock if the operator says so', async () => {
    const id = await shipped('mug', 3)
    const { id: number } = ask(id, { items: [{ line: 1, quantity: 2 }] })
    expect([statesOf(id), getOrder(app.db, id).refundedMinor]).toEqual([['expected'], 0])
    expect(mail('return_expected')).toMatchObject({
      subject: `Return ${number} of your order ${id} at Shopstead Demo`,
      blocks: [{ title: 'What comes back', lines: ['2 × Mug'] }]
    })
    const stock = till.stockOf('mug') ?? 0
    expect(planReturn(app, id, { holdMinutes: 60 }, 'operator')).toMatchObject({ refundMinor: 2500 })
    expect(await receive(id, { restock: 'all' })).toMatchObject({ returnId: number, addition: null, refundMinor: 2500 })
    expect([statesOf(id), till.stockOf('mug')]).toEqual([['refunded'], stock + 2])
    expect(getOrder(app.db, id)).toMatchObject({ status: 'completed', refundedMinor: 2500 })
    expect(listRefunds(app.db, getOrder(app.db, id))).toMatchObject([
      { state: 'done', amount: 25, lines: [{ quantity: 2 }] }
    ])
    expect(historyOf(app.db, id).map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([`return ${number} expected: 2 × Mug`, `return ${number} received: 2 × Mug`])
    )
    expect(eventsOf(app.db).slice(-3)).toEqual(['order.return_expected', 'order.returned', 'order.refunded'])
    await expectBooked()
  })

  it('can be fewer than expected, and stay out of the stock', async () => {
    const id = await shipped('mug', 3)
    ask(id, { items: [{ line: 1, quantity: 3 }] })
    const stock = till.stockOf('mug')
    await receive(id, { items: one })
    expect([getOrder(app.db, id).refundedMinor, till.stockOf('mug')]).toEqual([1250, stock])
    expect(listReturns(app.db, id)).toMatchObject([{ state: 'refunded', lines: [{ line: 1, quantity: 1 }] }])
    await expectBooked()
  })

  it('need no announcement', async () => {
    const id = await shipped('mug', 1)
    await receive(id, { items: one })
    expect([statesOf(id), getOrder(app.db, id).status]).toEqual([['refunded'], 'refunded'])
    await expectBooked()
  })

  it('are given up when they do not come, and can be asked for again', async () => {
    const id = await shipped('mug', 1)
    ask(id, { items: one })
    dropReturn(app.db, id, 'operator', till.clock.now())
    ask(id, { items: one })
    expect(statesOf(id)).toEqual(['dropped', 'expected'])
    expect(listAllReturns(app.db, { state: 'expected', limit: 5 })).toMatchObject([{ orderId: id }])
    dropReturn(app.db, id, 'operator', till.clock.now())
  })
})

describe('an exchange', () => {
  it('of a size is even, ships free of charge, and gives back what is left later', async () => {
    const id = await shipped('shirt', 1, { items: [item('shirt', 1, 'S')], couponCodes: ['TEN'] })
    ask(id, { items: one, exchange: [item('shirt', 1, 'M')] })
    const { addition, refundMinor } = await receive(id, { restock: 'all' })
    const other = addition?.id ?? 0
    expect([linesOf(other), refundMinor, statesOf(id)]).toEqual([[['Shirt - M', 1, 1800]], 0, ['exchanged']])
    expect(packed()).toEqual([[other, id, ['1 Shirt - M']]])
    await expectBooked()
    shipAll()
    await receive(other, { items: one })
    expect(getOrder(app.db, other).status).toBe('refunded')
    await expectBooked()
  })

  it('that costs more waits for its payment', async () => {
    const id = await shipped('mug', 1)
    const { addition } = await receive(id, { items: one, exchange: [item('lamp', 1)] })
    const other = addition?.id ?? 0
    expect([statesOf(id), dueMinor(app.db, getOrder(app.db, other))]).toEqual([['received'], 2750])
    expect(mail('order_changed')).toMatchObject({ action: { label: 'Pay €27.50' } })
    await payDue(other)
    expect([statesOf(id), packed()]).toEqual([['exchanged'], [[other, id, ['1 Lamp']]]])
    shipAll()
    await expectBooked()
  })

  it('that is not paid for becomes a refund', async () => {
    const id = await shipped('mug', 1)
    const { addition, returnId } = await receive(id, { items: one, exchange: [item('lamp', 1)] })
    await cancelOrder(app, addition?.id ?? 0, 'operator')
    expect([statesOf(id), getOrder(app.db, id).refundedMinor]).toEqual([['received'], 0])
    expect(await receive(id)).toMatchObject({ returnId, addition: null, refundMinor: 1250 })
    expect([statesOf(id), getOrder(app.db, id).status]).toEqual([['refunded'], 'refunded'])
    await expectBooked()
  })

  it('that costs less gives the rest back', async () => {
    const id = await shipped('lamp', 1)
    const { addition, refundMinor } = await receive(id, { items: one, exchange: [item('mug', 2)] })
    expect([getOrder(app.db, addition?.id ?? 0).status, refundMinor]).toEqual(['processing', 1500])
    shipAll()
    await expectBooked()
  })
})

describe('a return that is refused changes nothing', () => {
  it.each<[string, ReceivedGoods['items'], string]>([
    ['for more than the buyer has', [{ line: 1, quantity: 3 }], 'Of line 1 (Mug), 2 are with the buyer.'],
    ['for a line that does not exist', [{ line: 4, quantity: 1 }], 'The order has no line 4.'],
    ['for a line that is given twice', [...one, ...one], 'Line 1 is given twice.']
  ])('%s', async (_title, items, message) => {
    const id = await shipped('mug', 2)
    const refused = { details: { fieldErrors: { items: [message] } } }
    expect(() => ask(id, { items })).toThrow(expect.objectContaining(refused))
    await expect(receive(id, { items })).rejects.toMatchObject(refused)
    expect([statesOf(id), getOrder(app.db, id).refundedMinor]).toEqual([[], 0])
  })

  it('for goods that have not left, and for what is not shipped', async () => {
    const id = await paid('mug', 1)
    expect(() => ask(id, { items: one })).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
    shipAll()
    const file = await paid('print', 1)
    expect(() => ask(file, { items: one })).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  })

  it('for an order that waits for another return, or for none', async () => {
    const id = await shipped('mug', 2)
    await expect(receive(id)).rejects.toThrow(`Order ${id} waits for no return.`)
    const { id: number } = ask(id, { items: one })
    expect(() => ask(id, { items: one })).toThrow(`Order ${id} waits for return ${number}.`)
    dropReturn(app.db, id, 'operator', till.clock.now())
    expect(() => dropReturn(app.db, id, 'operator', till.clock.now())).toThrow(`Order ${id} waits for no return.`)
  })
})

describe('a buyer who withdraws from the contract', () => {
  const withdraw = async (id: number, lines: readonly number[]) => {
    const { publicToken } = getOrder(app.db, id)
    const itemIds = itemsOf(app.db, id).flatMap((each, index) => (lines.includes(index + 1) ? [each.id] : []))
    const said = { contract: String(id), name: 'Ada', email: 'ada@example.com', message: null, itemIds }
    till.clock.advance(1000)
    await declareWithdrawal(app, said, publicToken, { addressKey: 'a', now: till.clock.now() })
  }
  const warnings = (id: number) =>
    [...listWarnings(app.db, 'withdrawal')].flatMap(({ orderId, message }) => (orderId === id ? [message] : []))
  const mugAndLamp = { items: [item('mug', 2), item('lamp', 1)] }

  it('begins a return of what has left, and a refund of the rest is asked for', async () => {
    const id = await paid('mug', 2, mugAndLamp)
    const parcel = { carrier: null, tracking: null, url: null, items: one }
    shipOrder(app.db, id, parcel, 'operator', till.clock.now())
    await withdraw(id, [1, 2])
    expect(listReturns(app.db, id)).toMatchObject([{ state: 'expected', lines: [{ line: 1, quantity: 1 }] }])
    expect(warnings(id)).toEqual([
      `The buyer of order ${id} withdraws from the contract about the order. ` +
        `Refund what is not with the buyer within 14 days with "shopstead orders refund ${id} --item 1:1 --item 2:1". ` +
        'When the goods are back, or the buyer proves that they were sent, refund them with ' +
        `"shopstead orders return ${id} --received --shipping".`
    ])
    await receive(id)
    expect(warnings(id)).toHaveLength(1)
    await refundOrder(app, id, {}, 'operator')
    expect([warnings(id), getOrder(app.db, id).status]).toEqual([[], 'refunded'])
    await expectBooked()
  })

  it('adds to the return for which the order waits, and gets the money instead of an exchange', async () => {
    const id = await shipped('mug', 2, mugAndLamp)
    const { id: number } = ask(id, { items: one, exchange: [item('pin', 1)] })
    await withdraw(id, [2])
    expect(listReturns(app.db, id)).toMatchObject([
      {
        id: number,
        state: 'expected',
        lines: [
          { line: 1, quantity: 1 },
          { line: 2, quantity: 1 }
        ]
      }
    ])
    expect(mail('return_expected')).toMatchObject({ blocks: [{ lines: ['1 × Mug', '1 × Lamp'] }] })
    expect(warnings(id)).toHaveLength(1)
    expect(await receive(id)).toMatchObject({ addition: null, refundMinor: 5250 })
    expect(warnings(id)).toEqual([])
    await expectBooked()
  })
})

describe('a parcel', () => {
  it('has what is left of the order and of what adds to it, and one email', async () => {
    const id = await paid('mug', 1)
    const { addition } = await change(id, { add: [item('lamp', 1)] })
    const other = addition?.id ?? 0
    await payDue(other)
    const parcel = { carrier: 'DHL', tracking: '77', url: null, items: null }
    const before = mailsOf(app.db).length
    expect(shipOrder(app.db, id, parcel, 'operator', till.clock.now())).toEqual([id, other])
    expect([id, other].map((each) => getOrder(app.db, each).status)).toEqual(['completed', 'completed'])
    expect(mailsOf(app.db).slice(before)).toMatchObject([{ template: 'order_shipped' }])
    expect(mail('order_shipped')?.blocks?.[0]).toMatchObject({ lines: ['1 × Mug', '1 × Lamp'] })
    expect(() => shipOrder(app.db, id, parcel, 'operator', till.clock.now())).toThrow(`Order ${id} is completed.`)
  })

  it('has an exchange alone when the order has left', async () => {
    const id = await shipped('shirt', 1, { items: [item('shirt', 1, 'S')] })
    const { addition } = await receive(id, { items: one, exchange: [item('shirt', 1, 'M')] })
    const parcel = { carrier: null, tracking: null, url: null, items: null }
    expect(shipOrder(app.db, id, parcel, 'operator', till.clock.now())).toEqual([addition?.id])
    expect(mail('order_shipped')?.subject).toContain(`order ${addition?.id ?? 0}`)
  })

  it('still has what did not leave when what left comes back', async () => {
    const id = await paid('mug', 3)
    const parcel = { carrier: null, tracking: null, url: null, items: [{ line: 1, quantity: 2 }] }
    shipOrder(app.db, id, parcel, 'operator', till.clock.now())
    await receive(id, { items: one, restock: 'all' })
    expect(packed()).toEqual([[id, null, ['1 Mug']]])
    await expect(receive(id, { items: [{ line: 1, quantity: 2 }] })).rejects.toMatchObject({
      details: { fieldErrors: { items: ['Of line 1 (Mug), 1 are with the buyer.'] } }
    })
    shipAll()
    await expectBooked()
  })
})

it('two operators who receive the same return give the money back once', async () => {
  const id = await shipped('mug', 1)
  ask(id, { items: one })
  const done = await Promise.allSettled([receive(id), receive(id)])
  expect(done.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual(['fulfilled', 'rejected'])
  expect(getOrder(app.db, id).refundedMinor).toBe(1250)
  await expectBooked()
})
