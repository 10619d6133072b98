import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { parseWith } from '../../../src/platform/http/validation.ts'

const schema = z.strictObject({
  items: z
    .array(z.strictObject({ productId: z.int().positive(), quantity: z.int().min(1).max(50) }))
    .min(1)
    .max(3),
  email: z.email().optional(),
  strategy: z.enum(['redirect_to_store', 'token_handoff']).optional(),
  name: z.string().min(1).max(5).optional(),
  accept: z.literal(true, 'Must be accepted.').optional(),
  ratio: z.number().gt(0).optional(),
  at: z.iso.datetime({ offset: true }).optional()
})

function refused(value: unknown, by: z.ZodType = schema): unknown {
  try {
    parseWith(by, value)
  } catch (error) {
    if (error instanceof AppError) return error.details['fieldErrors']
    throw error
  }
  return undefined
}

const good = { items: [{ productId: 1, quantity: 1 }] }

test('a valid value is returned as the schema transforms it', () => {
  expect(parseWith(z.object({ a: z.string().trim() }), { a: ' x ', b: 1 })).toEqual({ a: 'x' })
})

test.each<[value: unknown, errors: Record<string, string[]>]>([
  [{}, { items: ['Is required: must be a list.'] }],
  [{ items: 'x' }, { items: ['Must be a list.'] }],
  [{ items: [] }, { items: ['Must not be empty.'] }],
  [
    { items: [good.items[0], good.items[0], good.items[0], good.items[0]] },
    { items: ['Must have at most 3 entries.'] }
  ],
  [
    { items: [{ productId: 0, quantity: 51 }] },
    { 'items.0.productId': ['Must be more than 0.'], 'items.0.quantity': ['Must be at most 50.'] }
  ],
  [
    { items: [{ productId: 1.5, quantity: '2' }] },
    { 'items.0.productId': ['Must be a whole number.'], 'items.0.quantity': ['Must be a number.'] }
  ],
  [{ items: [{ productId: 1, quantity: 1, price: 5 }] }, { 'items.0.price': ['Is not a known field.'] }],
  [
    { ...good, a: 1, b: 2 },
    { a: ['Is not a known field.'], b: ['Is not a known field.'] }
  ],
  [{ ...good, email: 'nobody' }, { email: ['Must be an email address.'] }],
  [{ ...good, strategy: 'other' }, { strategy: ['Must be one of "redirect_to_store", "token_handoff".'] }],
  [{ ...good, name: 'too long' }, { name: ['Must have at most 5 characters.'] }],
  [{ ...good, name: null }, { name: ['Must be text.'] }],
  [{ ...good, accept: false }, { accept: ['Must be accepted.'] }],
  [{ ...good, ratio: 0 }, { ratio: ['Must be more than 0.'] }],
  [{ ...good, at: 'today' }, { at: ['Must be an ISO 8601 date-time.'] }],
  ['text', { _body: ['Must be an object.'] }],
  [[], { _body: ['Must be an object.'] }]
])('%j is refused by its fields', (value, errors) => {
  expect(refused(value)).toEqual(errors)
})

test('a schema’s own message replaces the default one', () => {
  expect(refused({ a: 1 }, z.object({ a: z.number().refine(() => false, 'Own words.') }))).toEqual({
    a: ['Own words.']
  })
  expect(refused({ a: 1 }, z.object({ a: z.number().refine(() => false) }))).toEqual({ a: ['Is not valid.'] })
  expect(refused({ a: 1 }, z.object({ a: z.union([z.string(), z.boolean()]) }))).toEqual({ a: ['Is not valid.'] })
})

test('at most twenty fields are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]))
  expect(Object.keys(refused({ ...good, ...many }) as object)).toHaveLength(20)
})

test('a message does not repeat the rejected value', () => {
  const secret = 'hunter2-secret'
  for (const value of [
    { items: secret },
    { ...good, email: secret },
    { ...good, strategy: secret },
    { ...good, at: secret, name: secret },
    secret
  ]) {
    expect(JSON.stringify(refused(value))).not.toContain(secret)
  }
})
