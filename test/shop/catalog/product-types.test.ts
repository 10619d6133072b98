import { expect, it } from 'vitest'
import { needsShipping } from '../../../src/shop/catalog/product-types.ts'

it('a cart needs shipping if one of its products is shipped', () => {
  expect(needsShipping([{ type: 'digital' }, { type: 'physical' }])).toBe(true)
  expect(needsShipping([{ type: 'digital' }, { type: 'digital' }])).toBe(false)
  expect(needsShipping([])).toBe(false)
})
