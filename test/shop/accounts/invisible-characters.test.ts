import { expect, it } from 'vitest'
import { nameField } from '../../../src/shop/accounts/fields.ts'
import { applyBody } from '../../../src/shop/affiliates/input.ts'
import { checkoutBody } from '../../../src/shop/checkout/input.ts'

const name = nameField(100)

it.each([
  ['an Arabic letter mark', '\u061C'],
  ['a byte order mark', '\uFEFF'],
  ['a soft hyphen', '\u00AD'],
  ['a left-to-right mark', '\u200E'],
  ['a zero-width space', '\u200B'],
  ['an empty Hangul letter', '\u3164'],
  ['tag characters', '\u{E0041}\u{E007F}']
])('drops %s from names, notes and applications', (_what, invisible) => {
  expect(name.parse(`Mi${invisible}ra`)).toBe('Mira')
  expect(name.safeParse(invisible).success).toBe(false)
  const body = { items: [{ productId: 1, quantity: 1 }], notes: `Ring${invisible} twice` }
  expect(checkoutBody.parse(body).notes).toBe('Ring twice')
  expect(applyBody.parse({ message: `I sell${invisible}\nlamps.` }).message).toBe('I sell\nlamps.')
})

it('refuses marks that turn the text in names, and drops them from notes and applications', () => {
  expect(name.safeParse('Mi\u202Era').success).toBe(false)
  const body = { items: [{ productId: 1, quantity: 1 }], notes: 'Ring\u202E twice\u2066' }
  expect(checkoutBody.parse(body).notes).toBe('Ring twice')
  expect(applyBody.parse({ message: 'I sell\u202E lamps.' }).message).toBe('I sell lamps.')
})

it('refuses control characters in notes and applications, which a terminal would run', () => {
  expect(applyBody.safeParse({ message: '\u001B[2J' }).success).toBe(false)
  expect(checkoutBody.safeParse({ items: [{ productId: 1, quantity: 1 }], notes: '\u001B[2J' }).success).toBe(false)
})

it('keeps the joiners that scripts and emoji need', () => {
  expect(name.parse('می\u200Cخواهم 👩\u200D🚀 ❤\uFE0F')).toBe('می\u200Cخواهم 👩\u200D🚀 ❤\uFE0F')
})
