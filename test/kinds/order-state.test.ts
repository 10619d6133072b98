import { describe, expect, it } from 'vitest'
import { loadAssets } from '../../src/pages/assets.ts'
import { orderStates as storefrontStates } from '../../src/pages/storefront/order-states.ts'
import { orderStates } from '../../src/shop/orders/states.ts'
import { typeErrors } from '../support/compile.ts'

const table = 'src/shop/orders/states.ts'
const row = {
  to: `['completed']`,
  paid: 'true',
  released: 'false',
  tone: `'good'`,
  title: `'Your order is packed'`,
  text: `'We will send it today.'`
}

/** The table with one more state in front of `completed`. */
function withState(properties: Record<string, string>) {
  const text = Object.entries(properties).map(([name, value]) => `${name}: ${value}`)
  return { path: table, instead: '  completed: {', text: `  packed: { ${text.join(', ')} },\n  completed: {` }
}

describe('an order state that is added', () => {
  it.each(Object.keys(row))('does not compile without %s', (missing) => {
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => name !== missing))
    expect(typeErrors([table], [withState(rest)])).toContainEqual(
      expect.stringMatching(new RegExp(`^${table}: Property '${missing}' is missing`))
    )
  })

  it('does not compile with a move to a state that does not exist', () => {
    expect(typeErrors([table], [withState({ ...row, to: `['shipped']` })])).toEqual([
      expect.stringMatching(/^src\/shop\/orders\/states\.ts: .*'"shipped"' is not assignable/)
    ])
  })
})

describe('the table of order states', () => {
  it('agrees with the one of the storefront, which knows only the public API', () => {
    const facts = Object.entries(orderStates).map(([status, { tone, paid, released }]) => [
      status,
      { tone, paid, over: released }
    ])
    expect(storefrontStates).toEqual(Object.fromEntries(facts))
  })

  it.each(['orders', 'thanks', 'order'] as const)('is imported by the script %s of the storefront', (script) => {
    expect(loadAssets().modulesOf(script)).toContainEqual(expect.stringMatching(/^\/assets\/order-states-/))
  })
})
