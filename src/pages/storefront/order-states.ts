import type { BuyerOrder } from '../../client/api-types.ts'

/** The colour of a state on pages. */
export type Tone = 'good' | 'wait' | 'bad'

type Status = BuyerOrder['status']

/** What the storefront knows about each state of an order. `over`: the order does not hold its goods any more. */
export const orderStates: Readonly<Record<Status, { tone: Tone; paid: boolean; over: boolean }>> = {
  pending: { tone: 'wait', paid: false, over: false },
  'on-hold': { tone: 'wait', paid: false, over: false },
  processing: { tone: 'good', paid: true, over: false },
  completed: { tone: 'good', paid: true, over: false },
  failed: { tone: 'bad', paid: false, over: true },
  cancelled: { tone: 'bad', paid: false, over: true },
  refunded: { tone: 'good', paid: false, over: true }
}
