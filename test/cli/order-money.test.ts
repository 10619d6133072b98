import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { holdCards } from '../../src/shop/orders/refunds/credits.ts'
import { draft, line, makeProduct, makeUser, move, place } from '../shop/orders/support.ts'
import { shopstead } from '../support/command-line.ts'
import { openTestShop } from '../support/shop-context.ts'
import type { TestShop } from '../support/shop-context.ts'
import { noon } from '../support/temporary-shop.ts'

/** An order of €12.50 that was paid by bank transfer. */
function paidByTransfer(shop: TestShop): string {
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { email: 'lena@shop.example' }))
  move(shop.db, id, 'processing')
  return String(id)
}

/** An order of €12.50 that a gift card paid in part or as a whole, and a bank transfer the rest. */
function paidByCard(shop: TestShop, amount: number): string {
  const { id } = place(shop.db, draft([line(makeProduct(shop.db))], { email: 'lena@shop.example' }))
  const { card } = issueByOperator(shop.db, { amount, reason: 'test' }, noon)
  write(shop.db, (tx) => holdCards(tx, id, [card.id], noon))
  move(shop.db, id, 'processing')
  return String(id)
}

describe('a command that moves money or takes something away', () => {
  it('changes nothing and exits with 2 without a terminal and without --yes', async () => {
    using shop = openTestShop()
    const id = paidByTransfer(shop)
    const { email } = makeUser(shop.db, 'mira@shop.example')
    for (const words of [
      ['orders', 'refund', id],
      ['orders', 'cancel', id],
      ['users', 'deactivate', email],
      ['admin', 'revoke', email]
    ])
      expect(await shopstead(shop.dataDir, words)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect((await shopstead(shop.dataDir, ['orders', 'show', id, '--json'])).json).toMatchObject({
      order: { status: 'processing', refunded: 0 }
    })
    expect((await shopstead(shop.dataDir, ['users', 'show', email, '--json'])).json).toMatchObject({ status: 'active' })
  })

  it('changes nothing when the operator says no', async () => {
    using shop = openTestShop()
    const id = paidByTransfer(shop)
    const refused = await shopstead(shop.dataDir, ['orders', 'refund', id], { answers: [false] })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was changed.') })
  })
})

describe('shopstead orders refund', () => {
  it('tells the operator to pay back an order without a charge, and stands in the history in parts', async () => {
    using shop = openTestShop()
    const id = paidByTransfer(shop)
    const part = await shopstead(shop.dataDir, ['orders', 'refund', id, '--amount', '2.50'], { answers: [true] })
    expect(part.stderr).toContain('€2.50 of order')
    expect(part.stdout).toContain(`Pay this back yourself: €2.50 to lena@shop.example, order ${id}.`)
    const rest = await shopstead(shop.dataDir, ['orders', 'refund', id, '--yes', '--json'])
    expect(rest.json).toMatchObject({
      refund: { amount: 10, currency: 'EUR', way: 'by_hand' },
      order: { status: 'refunded', refunded: 12.5 },
      history: [
        {},
        {},
        { from: 'processing', to: 'processing', by: 'operator', reason: 'refunded by hand (€2.50)' },
        { from: 'processing', to: 'refunded', by: 'operator', reason: 'refunded by hand' }
      ]
    })
  })

  it('asks no question about a refund that is not possible', async () => {
    using shop = openTestShop()
    const id = paidByTransfer(shop)
    const tooMuch = await shopstead(shop.dataDir, ['orders', 'refund', id, '--amount', '13'], { answers: [true] })
    expect(tooMuch).toMatchObject({ code: 1, stderr: expect.not.stringContaining('?') })
    const unpaid = String(place(shop.db, draft([line(makeProduct(shop.db))])).id)
    expect(await shopstead(shop.dataDir, ['orders', 'refund', unpaid], { answers: [true] })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has not been paid')
    })
  })
})

describe('an order that a gift card paid', () => {
  it('is refunded to the card first, and the operator is told what to pay back', async () => {
    using shop = openTestShop()
    const id = paidByCard(shop, 7.5)
    const { stderr, stdout } = await shopstead(shop.dataDir, ['orders', 'refund', id], { answers: [true] })
    expect(stderr).toContain(
      `Put €7.50 of order ${id} back on the gift card that paid it? You pay €5.00 back yourself.`
    )
    expect(stdout).toContain(`€7.50 of order ${id} is back on the gift card.`)
    expect(stdout).toContain(`Pay this back yourself: €5.00 to lena@shop.example, order ${id}.`)
  })

  it.each([
    ['return', '--item', '1:1', '--received'],
    ['edit', '--remove', '1']
  ])('asks the operator for no money after "orders %s"', async (verb, ...options) => {
    using shop = openTestShop()
    const id = paidByCard(shop, 20)
    if (verb === 'return') await shopstead(shop.dataDir, ['orders', 'ship', id])
    const { stdout } = await shopstead(shop.dataDir, ['orders', verb, id, ...options, '--yes'])
    expect(stdout).toContain(`€12.50 of order ${id} is back on the gift card.`)
    expect(stdout).not.toMatch(/Pay this back|gateway/)
  })
})

it('a cancellation of a paid order says that the buyer has paid', async () => {
  using shop = openTestShop()
  const id = paidByTransfer(shop)
  const { stdout } = await shopstead(shop.dataDir, ['orders', 'cancel', id, '--yes'])
  expect(stdout).toContain(`The buyer has paid €12.50. Return it with "shopstead orders refund ${id}".`)
})
