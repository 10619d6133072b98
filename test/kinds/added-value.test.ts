import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { typeErrors } from '../support/compile.ts'
import type { Edit } from '../support/compile.ts'

/** One more value in a list or table; a table's row has every property. */
const additions: readonly Edit[] = [
  {
    path: 'src/shop/catalog/product-types.ts',
    instead: '  digital: {',
    text: '  service: { isShipped: false },\n  digital: {'
  },
  {
    path: 'src/shop/orders/strategies.ts',
    instead: '  token_handoff: {',
    text: `  payment_link: { attemptKind: 'checkout_session', takesToken: false },\n  token_handoff: {`
  },
  {
    path: 'src/shop/checkout/choose-payment.ts',
    instead: '  manual: {',
    text: '  cash: { isOffered: () => true, start: payByHand },\n  manual: {'
  },
  { path: 'src/shop/payments/schema.ts', instead: `'payment_intent', `, text: `'payment_intent', 'setup_intent', ` },
  {
    path: 'src/shop/payments/gateway-state.ts',
    instead: `verdict: 'paid' |`,
    text: `verdict: 'authorised' | 'paid' |`
  },
  {
    path: 'src/shop/referrals/states.ts',
    instead: '  paid: {',
    text: '  disputed: { accepted: false },\n  paid: {'
  },
  { path: 'src/shop/affiliates/schema.ts', instead: `'inactive', `, text: `'inactive', 'paused', ` },
  { path: 'src/shop/webhooks/schema.ts', instead: `'delivered', `, text: `'delivered', 'held', ` },
  { path: 'src/shop/accounts/schema.ts', instead: `['verify', `, text: `['verify', 'login', ` }
]

/** All that names one of the lists. */
const words =
  /(product-types|strategies|states)\.ts'|ProductType|Strategy|PaymentMethod|AttemptRow|GatewayState|ReferralStatus|AffiliateStatus|DeliveryState|EmailTokenKind/

/** The places that decide by one of them, in the order of their paths, each with the added value. */
const undecided: readonly (readonly [path: string, value: string])[] = [
  ['src/pages/pay-form.ts', 'cash'],
  ['src/shop/accounts/email-tokens.ts', 'login'],
  ['src/shop/accounts/queue-link.ts', 'login'],
  ['src/shop/affiliates/anonymise.ts', 'paused'],
  ['src/shop/affiliates/create-affiliate.ts', 'paused'],
  ['src/shop/orders/explain.ts', 'disputed'],
  ['src/shop/payments/look-up.ts', 'setup_intent'],
  ['src/shop/payments/settle.ts', 'authorised'],
  ['src/shop/webhooks/deliveries.ts', 'held'],
  ['src/shop/webhooks/sender.ts', 'held']
]

it('an added strategy, method, state or kind does not compile before each place decides about it', () => {
  const files = globSync('src/**/*.ts').filter((file) => words.test(readFileSync(file, 'utf8')))
  const errors = typeErrors(files.toSorted(), additions)
  expect(errors).toEqual(
    undecided.map(([path, value]) => expect.stringMatching(new RegExp(`^${path}: Property '${value}' is missing`)))
  )
})
