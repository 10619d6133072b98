import { globSync, readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { typeErrors } from '../support/compile.ts'
import { additions, wrongRows } from './additions.ts'

/** Names of the tables, the lists and their types. */
const names =
  /(states|modules|kinds|product-types|strategies)\.ts'|OrderStatus|GrantSpec|GrantKind|ProductType|Strategy|PaymentMethod|AttemptRow|GatewayState|ReferralStatus|AffiliateStatus|DeliveryState|EmailTokenKind/

/** The places that decide by one of them, in the order of their paths, each with the added value. */
const undecided: readonly (readonly [path: string, value: string])[] = [
  ['src/operations/seeding/purchase.ts', 'packed'],
  ['src/pages/pay-view.ts', 'cash'],
  ['src/shop/accounts/email-tokens.ts', 'login'],
  ['src/shop/accounts/email-tokens.ts', 'login'],
  ['src/shop/affiliates/create.ts', 'paused'],
  ['src/shop/affiliates/decide.ts', 'paused'],
  ['src/shop/mailer/account-emails.ts', 'login'],
  ['src/shop/orders/explain.ts', 'disputed'],
  ['src/shop/payments/gateway-state.ts', 'setup_intent'],
  ['src/shop/payments/settle.ts', 'authorised'],
  ['src/shop/webhooks/deliveries.ts', 'held'],
  ['src/shop/webhooks/sender.ts', 'held']
]

const files = globSync('src/**/*.ts')
  .filter((file) => names.test(readFileSync(file, 'utf8')))
  .toSorted()
let errors: ReturnType<typeof typeErrors>
beforeAll(() => {
  const copies = Object.fromEntries(Object.entries(wrongRows).map(([what, { copy }]) => [what, copy]))
  errors = typeErrors({ files, edits: additions, copies })
}, 300_000)

it('a state, module, benefit kind or other value with its row compiles wherever nothing else decides about it', () => {
  expect(files).toEqual(
    expect.arrayContaining([
      'src/shop/checkout/buyer-status.ts',
      'src/shop/entitlements/flags.ts',
      'src/shop/benefits/give.ts'
    ])
  )
  expect(errors.files).toEqual(
    undecided.map(([path, value]) => expect.stringMatching(new RegExp(`^${path}: Property '${value}' is missing`)))
  )
})

it.each(Object.entries(wrongRows))('%s does not compile', (what, { error }) => {
  expect(errors.copies[what]).toContainEqual(expect.stringMatching(error))
})
