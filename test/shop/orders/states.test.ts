import { describe, expect, test } from 'vitest'
import { mayMove, orderStatuses } from '../../../src/shop/orders/states.ts'

// docs/contract.md 5.13, copied by hand: a row for each state, a column for each target; `late`: by a late payment only.
const columns = ['pending', 'failed', 'on-hold', 'processing', 'completed', 'cancelled', 'refunded'] as const
const contract: Record<string, string[]> = {
  pending: ['-', 'yes', 'yes', 'yes', 'yes', 'yes', '-'],
  failed: ['yes', '-', 'yes', 'yes', 'yes', 'yes', '-'],
  'on-hold': ['-', 'yes', '-', 'yes', 'yes', 'yes', 'yes'],
  processing: ['-', '-', 'yes', '-', 'yes', 'yes', 'yes'],
  completed: ['-', '-', 'yes', '-', '-', '-', 'yes'],
  cancelled: ['-', '-', 'late', 'late', 'late', '-', '-'],
  refunded: ['-', '-', '-', '-', '-', '-', '-']
}

describe('the table of order states', () => {
  for (const from of orderStatuses) {
    for (const [index, to] of columns.entries()) {
      const word = contract[from]?.[index]
      test(`${from} to ${to}: ${word}`, () => {
        expect(mayMove(from, to, false)).toBe(word === 'yes')
        expect(mayMove(from, to, true)).toBe(word === 'yes' || word === 'late')
      })
    }
  }
})
