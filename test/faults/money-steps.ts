import { AppError } from '../../src/errors.ts'
import { attemptsOf } from '../../src/shop/payments/attempts.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import type { Random } from '../torture/random.ts'
import { readBooks } from './books.ts'
import type { MoneyShop, Subscriber } from './money-shop.ts'

/** What a step works with: a subscriber whose `renewals` are orders of their own, oldest first. */
export type Setting = Subscriber & { shop: MoneyShop; random: Random; renewals: number[]; operator: Operator }
/** What an operator does whose refund was not confirmed. */
export type Operator = 'waits' | 'repeats'

type Step = {
  /** How many periods are renewed before the step. */
  renewals: number
  /** The calls to the gateway that the shop makes because of the step. */
  calls: readonly string[]
  paymentMethod?: string
  act: (setting: Setting) => Promise<void>
}

const invoiceCalls = ['invoices.retrieve', 'subscriptions.retrieve', 'events.list']
const refundCalls = ['refunds.create', 'refunds.list', 'refunds.retrieve', 'charges.retrieve']
const renewalCalls = [
  'payment_intents.retrieve',
  'invoice_payments.list',
  'invoices.retrieve',
  'subscriptions.retrieve'
]
const endingCalls = ['subscriptions.cancel', 'subscriptions.retrieve']

/** Everything that happens to money after the first payment. */
export const steps = {
  'a renewal': {
    renewals: 0,
    calls: invoiceCalls,
    act: async ({ shop, subscription }) => void shop.sandbox.renewSubscription(subscription, 'paid')
  },
  'a renewal after failed ones': {
    renewals: 1,
    calls: invoiceCalls,
    async act({ shop, subscription, random }) {
      for (let tries = random.between(1, 2); tries > 0; tries -= 1) {
        shop.sandbox.renewSubscription(subscription, 'failed')
        await shop.deliver()
      }
      shop.sandbox.renewSubscription(subscription, 'paid')
    }
  },
  'a renewal that fails to the end': {
    renewals: 1,
    calls: invoiceCalls,
    async act({ shop, subscription }) {
      for (let tries = 0; tries < 4; tries += 1) shop.sandbox.renewSubscription(subscription, 'failed')
    }
  },
  'a cancellation in the portal': {
    renewals: 1,
    calls: ['subscriptions.retrieve', 'events.list'],
    async act({ shop, subscription }) {
      const { subscriptions } = shop.sandbox.ledger()
      const item = subscriptions.find(({ id }) => id === subscription)?.items.data[0]
      await (await shop.stripe()).subscriptions.update(subscription, { cancel_at: item?.current_period_end ?? 0 })
    }
  },
  'a refund of the first order': {
    renewals: 0,
    calls: [...refundCalls, ...endingCalls],
    act: async (setting) => refund(setting, setting.orderId)
  },
  'a refund of the first order after renewals': {
    renewals: 2,
    calls: refundCalls,
    act: async (setting) => refund(setting, setting.orderId)
  },
  'a refund of the newest renewal': {
    renewals: 2,
    calls: [...refundCalls, ...endingCalls],
    act: async (setting) => refund(setting, setting.renewals.at(-1))
  },
  'a refund of an earlier renewal in part': {
    renewals: 2,
    calls: refundCalls,
    act: async (setting) => refund(setting, setting.renewals[0], setting.random.between(1, 799))
  },
  'a refund that fails later': {
    renewals: 1,
    calls: refundCalls,
    paymentMethod: 'pm_card_refundFail',
    act: async (setting) => refund(setting, setting.random.pick([setting.orderId, ...setting.renewals]))
  },
  'a refund that is pending at first': {
    renewals: 1,
    calls: refundCalls,
    paymentMethod: 'pm_card_pendingRefund',
    act: async (setting) => refund(setting, setting.random.pick([setting.orderId, ...setting.renewals]))
  },
  'a refund of a renewal in the dashboard': {
    renewals: 0,
    calls: ['refunds.list', 'refunds.retrieve', 'charges.retrieve', ...renewalCalls],
    async act({ shop, subscription, random }) {
      shop.sandbox.renewSubscription(subscription, 'paid')
      const intent = newestIntent(shop)
      const part = random.oneIn(2) ? {} : { amount: random.between(1, 799) }
      await (await shop.stripe()).refunds.create({ payment_intent: intent, ...part })
    }
  },
  'a dispute of the first payment that is lost': {
    renewals: 0,
    calls: ['disputes.retrieve', ...endingCalls],
    act: async (setting) => dispute(setting, setting.orderId, 'lost')
  },
  'a dispute of the first payment that is won': {
    renewals: 1,
    calls: ['disputes.retrieve'],
    act: async (setting) => dispute(setting, setting.orderId, 'won')
  },
  'a dispute of a renewal that is lost': {
    renewals: 1,
    calls: ['disputes.retrieve', ...endingCalls],
    act: async (setting) => dispute(setting, setting.renewals.at(-1), 'lost')
  },
  'a dispute of a renewal that is won': {
    renewals: 1,
    calls: ['disputes.retrieve'],
    act: async (setting) => dispute(setting, setting.renewals.at(-1), 'won')
  },
  'a dispute of a renewal in part that is lost': {
    renewals: 1,
    calls: ['disputes.retrieve'],
    act: async (setting) => dispute(setting, setting.renewals.at(-1), 'lost', setting.random.between(1, 799))
  },
  'a dispute of a renewal in part that is won': {
    renewals: 1,
    calls: ['disputes.retrieve'],
    act: async (setting) => dispute(setting, setting.renewals.at(-1), 'won', setting.random.between(1, 799))
  },
  'a dispute of a renewal that is not heard of': {
    renewals: 0,
    calls: ['disputes.retrieve', ...renewalCalls, ...endingCalls],
    async act({ shop, subscription, random }) {
      shop.sandbox.renewSubscription(subscription, 'paid')
      const { id } = shop.sandbox.openDispute(newestIntent(shop))
      if (random.oneIn(2)) shop.sandbox.decideDispute(id, random.pick(['won', 'lost']))
    }
  }
} as const satisfies Record<string, Step>

export type StepName = keyof typeof steps
export const stepNames = Object.keys(steps) as StepName[]
export const stepOf = (name: StepName): Step => steps[name]

/** An operator's refund, of all that is left unless an amount is given. A refusal is what the operator sees. */
async function refund({ shop, operator }: Setting, orderId: number | undefined, amountMinor?: number): Promise<void> {
  if (orderId === undefined) throw new Error('there is no order to refund')
  if (await askRefund(shop, orderId, amountMinor)) return
  if (operator === 'repeats') await askRefund(shop, orderId, amountMinor)
}

/** Whether the refund was confirmed; false for a refusal that an operator can expect. */
export async function askRefund(shop: MoneyShop, orderId: number, amountMinor?: number): Promise<boolean> {
  try {
    await refundOrder(shop.app, orderId, { amountMinor }, 'operator')
    return true
  } catch (error) {
    if (error instanceof AppError && expected.has(error.code)) return false
    throw error
  }
}

const expected: ReadonlySet<string> = new Set([
  'CONFLICT',
  'DEPENDENCY_UNAVAILABLE',
  'TRANSITION_REFUSED',
  'VALIDATION_FAILED'
])

async function dispute(
  { shop }: Setting,
  orderId: number | undefined,
  outcome: 'won' | 'lost',
  amount?: number
): Promise<void> {
  const [attempt] = attemptsOf(shop.app.db, orderId ?? 0)
  const { id } = shop.sandbox.openDispute(attempt?.paymentIntentId ?? '', amount === undefined ? {} : { amount })
  await shop.deliver()
  shop.sandbox.decideDispute(id, outcome)
}

function newestIntent(shop: MoneyShop): string {
  const charge = shop.sandbox.ledger().charges.at(-1)
  return typeof charge?.payment_intent === 'string' ? charge.payment_intent : ''
}

/** The renewals of an order, oldest first. */
export function renewalsOf({ app }: MoneyShop, orderId: number): number[] {
  return readBooks(app)
    .paid.filter(({ renewalOf }) => renewalOf === orderId)
    .map(({ id }) => id)
}
