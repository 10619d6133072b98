import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { typeErrors } from '../support/compile.ts'
import type { Edit } from '../support/compile.ts'

/** One more value in each table and list; a table's row has every property. */
const additions: readonly Edit[] = [
  {
    path: 'src/shop/orders/states.ts',
    instead: '  completed: {',
    text: `  packed: { to: ['completed'], paid: true, released: false, tone: 'good', title: 'Packed', text: '' },
  completed: {`
  },
  {
    path: 'src/shop/settings/modules.ts',
    instead: '  donations: {',
    text: `  wishLists: { about: 'wish lists', flag: 'hasWishLists', inFlags: true, inHealth: true, providesForms: false, isOnByDefault: true },
  donations: {`
  },
  {
    path: 'src/shop/catalog/grants.ts',
    instead: '  donation: z.strictObject({',
    text: `  voucher: z.strictObject({ kind: z.literal('voucher'), worth: z.int() }),\n  donation: z.strictObject({`
  },
  {
    path: 'src/shop/benefits/kinds.ts',
    instead: '  donation\n',
    text: `  donation,
  voucher: {
    plural: 'vouchers', table: enrolments, since: 'started_at', sharesTotal: false, renewal: null, byHand: course.byHand,
    start: (_tx, { userId }, { worth }) => userId + worth, end: () => ({ gatewayId: null }), list: () => [],
    words: (_db, { worth }) => \`A voucher for \${worth}\`
  }
`
  },
  {
    path: 'src/shop/benefits/kinds.ts',
    instead: `import { donation }`,
    text: `import { enrolments } from './schema.ts'\nimport { donation }`
  },
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
  { path: 'src/shop/referrals/states.ts', instead: '  paid: {', text: '  disputed: { accepted: false },\n  paid: {' },
  { path: 'src/shop/affiliates/schema.ts', instead: `'inactive', `, text: `'inactive', 'paused', ` },
  { path: 'src/shop/webhooks/schema.ts', instead: `'delivered', `, text: `'delivered', 'held', ` },
  { path: 'src/shop/accounts/schema.ts', instead: `['verify', `, text: `['verify', 'login', ` }
]

/** Names of the tables, the lists and their types. */
const names =
  /(states|modules|kinds|product-types|strategies)\.ts'|OrderStatus|GrantSpec|GrantKind|ProductType|Strategy|PaymentMethod|AttemptRow|GatewayState|ReferralStatus|AffiliateStatus|DeliveryState|EmailTokenKind/

/** The places that decide by one of them, in the order of their paths, each with the added value. */
const undecided: readonly (readonly [path: string, value: string])[] = [
  ['src/operations/seeding/purchase.ts', 'packed'],
  ['src/pages/pay-view.ts', 'cash'],
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

it('a state, module, benefit kind or other value with its row compiles wherever nothing else decides about it', () => {
  const files = globSync('src/**/*.ts').filter((file) => names.test(readFileSync(file, 'utf8')))
  expect(files).toEqual(
    expect.arrayContaining([
      'src/shop/checkout/buyer-status.ts',
      'src/shop/entitlements/flags.ts',
      'src/shop/benefits/give.ts'
    ])
  )
  const errors = typeErrors(files.toSorted(), additions)
  expect(errors).toEqual(
    undecided.map(([path, value]) => expect.stringMatching(new RegExp(`^${path}: Property '${value}' is missing`)))
  )
}, 120_000)
