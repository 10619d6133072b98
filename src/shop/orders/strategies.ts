import { keysOf } from '../../platform/typed.ts'
type Row = {
  /** The kind of object at the gateway. */
  attemptKind: 'checkout_session' | 'payment_intent'
  /** Whether the site sends a payment token; otherwise the buyer pays on a page of the shop or the gateway. */
  takesToken: boolean
}

/** The ways to pay a checkout. */
export const strategies = {
  redirect_to_store: { attemptKind: 'checkout_session', takesToken: false },
  token_handoff: { attemptKind: 'payment_intent', takesToken: true }
} as const satisfies Record<string, Row>

export type Strategy = keyof typeof strategies
/** The strategy of a checkout that does not name one. */
export const defaultStrategy: Strategy = 'redirect_to_store'

export const strategyNames = keysOf(strategies)

/** Whether a checkout with this strategy is paid with a payment token. */
export function takesToken(strategy: Strategy = defaultStrategy): boolean {
  return strategies[strategy].takesToken
}
