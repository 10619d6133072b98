import { getOrderView } from '../../src/shop/orders/view.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { choosePayment } from '../../src/shop/checkout/order-form.ts'
import { whoGave } from '../support/visitors.ts'
import { markPaid } from '../../src/shop/payments/attempts.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { setSetting, unsetSetting } from '../../src/shop/settings/settings.ts'
import { mailsTo } from '../support/mail-files.ts'
import type { MailFile } from '../support/mail-files.ts'
import { openTill } from '../shop/payments/till.ts'
import type { Till } from '../shop/payments/till.ts'
import { quay } from '../support/addresses.ts'

const minuteMs = 60_000
const shopEmail = 'orders@harbour.example'
const wait = { timeout: 20_000, interval: 10 }
const instructions = 'Harbour Shop\nIBAN DE00 1234 5678'

let till: Till
let buyers = 0
let email = ''
beforeAll(async () => {
  till = await openTill(undefined, { SHOPSTEAD_PAYMENTS: 'sandbox,manual' })
  setSetting(till.shop.app.db, 'payments.manualInstructions', instructions, till.clock.now())
})
beforeEach(() => {
  buyers += 1
  email = `buyer-${buyers}@shop.example`
  till.sandbox.clearFaults()
  // Whatever is repeated causes one email.
  till.sandbox.addFault({ target: 'webhook:*', fault: 'twice', times: -1 })
  setSetting(till.shop.app.db, 'shop.notifyEmail', shopEmail, till.clock.now())
})
afterAll(() => till.close())

/** The emails to an address after all that are due have been sent. */
async function emailsTo(address: string): Promise<MailFile[]> {
  const due = till.shop.app.db.sqlite
    .prepare("SELECT count(*) FROM mails WHERE state = 'queued' AND (attempts > 0 OR next_attempt_at <= ?)")
    .pluck()
  await expect.poll(() => due.get(till.clock.now()), wait).toBe(0)
  return mailsTo(till.shop.dataDir, address)
}

const subjects = async (address = email) => (await emailsTo(address)).map(({ subject }) => subject)
/** The subjects of the emails to the shop about an order. */
const toShop = async (id: number) => (await subjects(shopEmail)).filter((subject) => subject.includes(`order ${id}:`))

async function payByCard(paymentToken: string): Promise<number> {
  await till.handOff(paymentToken, { body: { customer: { email } } })
  await till.deliver()
  return till.ofNewest().order.id
}

async function orderByTransfer(): Promise<number> {
  const items = [{ productId: till.productId('mug'), quantity: 1 }]
  const body = { items, shippingAddress: quay, customer: { email }, notes: 'Ring twice\nor knock' }
  const { data } = await till.shop.visitor().post('/store/checkout-session', body)
  const id = Number(data['orderId'])
  const choice = { method: 'manual', email: null, firstName: null, lastName: null } as const
  await Promise.all([1, 2].map(() => choosePayment(till.shop.app, id, choice, whoGave(email))))
  return id
}

/** Webhooks, the reconciler and the passing of time, again and again. */
async function repeatEverything(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    till.clock.advance(minuteMs)
    await till.deliver()
    await till.settle()
  }
}

describe('an order that waits for a bank transfer', () => {
  it('sends one email with the instructions and the link to the order, and the receipt when the money is there', async () => {
    const id = await orderByTransfer()
    await repeatEverything()
    expect(await subjects()).toEqual([`We have received your order ${id} at Shopstead Demo`])
    const [received] = await emailsTo(email)
    expect(received?.text).toContain('Please pay €12.50.\n\nHarbour Shop\nIBAN DE00 1234 5678\n')
    expect(received?.html).toContain('Harbour Shop<br>IBAN DE00 1234 5678')
    expect(received?.text).toContain(
      `Order number: ${id}\nOrder date: 15 January 2026\nPlease pay by: 22 January 2026\n`
    )
    const { publicToken } = till.order(id)
    expect(received?.text).toContain(`View your order:\n${till.shop.app.publicUrl()}/checkout/done/${publicToken}\n`)
    markPaid(till.shop.app.db, id, 'operator', till.clock.now())
    expect((await subjects()).slice(1)).toEqual([`Your order ${id} at Shopstead Demo`])
    const inShop = (await emailsTo(shopEmail)).find(({ subject }) => subject.includes(`order ${id}:`))
    expect(inShop?.text).toContain(`Email: ${email}\n`)
    expect(inShop?.text).toContain('1 × ')
    expect(inShop?.text).toContain(`Shipping address:\n${quay.firstName} ${quay.lastName}\n${quay.address1}\n`)
    expect(inShop?.text).toContain('Note of the buyer:\nRing twice\nor knock\n')
    expect(await toShop(id)).toEqual([`[Shopstead Demo] New order ${id}: €12.50`])
  })

  it('sends nothing about it when the buyer is past ten emails in an hour', async () => {
    for (let orders = 0; orders < 12; orders += 1) await orderByTransfer()
    expect(await subjects()).toHaveLength(10)
  })
})

describe('an order that is paid at once', () => {
  it('sends the receipt, and nothing before it', async () => {
    const id = await payByCard('pm_card_visa')
    await repeatEverything()
    expect(await subjects()).toEqual([`Your order ${id} at Shopstead Demo`])
    expect(await toShop(id)).toEqual([`[Shopstead Demo] New order ${id}: €12.50`])
  })

  it('sends the receipt only when the bank has decided within a minute', async () => {
    const id = await payByCard('pm_card_sandbox_processing')
    till.clock.advance(10_000)
    await till.deliver()
    await repeatEverything()
    expect(await subjects()).toEqual([`Your order ${id} at Shopstead Demo`])
  })
})

describe('an order whose bank has not decided', () => {
  it('sends one email that it was received, and one that the payment failed, with a link to try again', async () => {
    till.sandbox.clearFaults()
    till.loseWebhooks()
    const id = await payByCard('pm_card_sandbox_processing_fail')
    till.clock.advance(2 * minuteMs)
    expect(await subjects()).toEqual([`We have received your order ${id} at Shopstead Demo`])
    expect((await emailsTo(email))[0]?.text).toContain('Your bank has not confirmed the payment yet.')
    till.clock.advance(minuteMs)
    await till.settle()
    await repeatEverything()
    till.clock.advance(15 * minuteMs)
    const failed = (await emailsTo(email))[1]
    expect(failed?.subject).toBe(`The payment for your order ${id} at Shopstead Demo did not go through`)
    const { publicToken } = till.order(id)
    const site = `https://site.example/thanks?orderId=${id}&orderToken=${publicToken}&result=failed`
    expect(failed?.text).toContain(`Try again:\n${site}\n`)
    expect(await subjects()).toHaveLength(2)
    expect(await toShop(id)).toEqual([])
  })
})

describe('a declined card', () => {
  it('sends one email after a quarter of an hour, when the buyer has not tried again', async () => {
    const id = await payByCard('pm_card_chargeDeclined')
    await repeatEverything()
    expect(await subjects()).toEqual([])
    till.clock.advance(15 * minuteMs)
    expect(await subjects()).toEqual([`The payment for your order ${id} at Shopstead Demo did not go through`])
  })

  it('sends nothing about it when the buyer has ordered again', async () => {
    await payByCard('pm_card_chargeDeclined')
    await payByCard('pm_card_chargeDeclined')
    const id = await payByCard('pm_card_visa')
    till.clock.advance(20 * minuteMs)
    expect(await subjects()).toEqual([`Your order ${id} at Shopstead Demo`])
  })
})

describe('a refund that comes back', () => {
  it('sends one email to the buyer, and one to the shop about the payment to look at', async () => {
    const id = await payByCard('pm_card_refundFail')
    await refundOrder(till.shop.app, id, { amountMinor: 500 }, 'operator')
    await repeatEverything()
    await repeatEverything()
    expect(await subjects()).toEqual([
      `Your order ${id} at Shopstead Demo`,
      `Refund for your order ${id} at Shopstead Demo`,
      `The refund for your order ${id} at Shopstead Demo did not reach you`
    ])
    expect((await emailsTo(email))[2]?.text).toContain('We still owe you €5.00.')
    expect(getOrderView(till.shop.app.db, id)).toMatchObject({ refundState: 'failed', refundOwed: 5 })
    const about = (await emailsTo(shopEmail)).filter(({ text }) => text.includes(`for order ${id} failed`))
    expect(about.map(({ subject }) => subject)).toEqual(['[Shopstead Demo] A payment needs your attention'])
  })
})

describe('an email', () => {
  it('is not sent when the operator has switched its template off', async () => {
    setSetting(till.shop.app.db, 'emails.off', 'order_received,payment_failed', till.clock.now())
    const id = await orderByTransfer()
    await payByCard('pm_card_chargeDeclined')
    till.clock.advance(15 * minuteMs)
    unsetSetting(till.shop.app.db, 'emails.off')
    markPaid(till.shop.app.db, id, 'operator', till.clock.now())
    expect(await subjects()).toEqual([`Your order ${id} at Shopstead Demo`])
  })

  it('does not go to the shop while shop.notifyEmail is empty', async () => {
    unsetSetting(till.shop.app.db, 'shop.notifyEmail')
    const before = (await emailsTo(shopEmail)).length
    await payByCard('pm_card_visa')
    expect(await emailsTo(shopEmail)).toHaveLength(before)
  })

  it('is queued with what it is about, so that a restart sends it, once', async () => {
    const id = await payByCard('pm_card_chargeDeclined')
    await till.shop.restartServer()
    till.clock.advance(15 * minuteMs + 1)
    expect(await subjects()).toEqual([`The payment for your order ${id} at Shopstead Demo did not go through`])
  })
})
