import { describe, expect, it } from 'vitest'
import { orderStates as storefrontStates } from '../../../src/pages/storefront/order-card.ts'
import { orderStates } from '../../../src/shop/orders/states.ts'

describe('the table of order states', () => {
  it('agrees with the one of the storefront, which knows only the public API', () => {
    const facts = Object.entries(orderStates).map(([status, { tone, paid, released }]) => [
      status,
      { tone, paid, over: released }
    ])
    expect(storefrontStates).toEqual(Object.fromEntries(facts))
  })
})
