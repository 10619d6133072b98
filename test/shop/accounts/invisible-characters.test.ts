import { expect, it } from 'vitest'
import { nameField } from '../../../src/shop/accounts/fields.ts'
import { checkoutBody } from '../../../src/shop/checkout/input.ts'

const name = nameField(100)

it.each([
  ['an Arabic letter mark', '\u061C'],
  ['a byte order mark', '\uFEFF'],
  ['a soft hyphen', '\u00AD'],
  ['a left-to-right mark', '\u200E'],
  ['a zero-width space', '\u200B'],
  ['tag characters', '\u{E0041}\u{E007F}']
])('drops %s from names and notes', (_what, invisible) => {
  expect(name.parse(`Mi${invisible}ra`)).toBe('Mira')
  expect(name.safeParse(invisible).success).toBe(false)
  const body = { items: [{ productId: 1, quantity: 1 }], notes: `Ring${invisible} twice` }
  expect(checkoutBody.parse(body).notes).toBe('Ring twice')
})

it('keeps the joiners that scripts and emoji need', () => {
  expect(name.parse('می\u200Cخواهم 👩\u200D🚀')).toBe('می\u200Cخواهم 👩\u200D🚀')
})
