type Row = {
  /** What the gateway is asked for. */
  attemptKind: 'checkout_session' | 'payment_intent'
  /** Whether the site sends a payment token; otherwise the buyer pays on a page of the shop's or the gateway's. */
  takesToken: boolean
}

/** How a checkout is paid. */
export const strategies = {
  redirect_to_store: { attemptKind: 'checkout_session', takesToken: false },
  token_handoff: { attemptKind: 'payment_intent', takesToken: true }
} as const satisfies Record<string, Row>

export type Strategy = keyof typeof strategies
/** For a checkout that names none. */
export const defaultStrategy: Strategy = 'redirect_to_store'

export const strategyNames = Object.keys(strategies) as [Strategy, ...Strategy[]]

export function takesToken(strategy: Strategy = defaultStrategy): boolean {
  return strategies[strategy].takesToken
}
