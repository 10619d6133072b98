import type { Edit } from '../support/compile.ts'

/** The properties of a row, as code. */
type Row = Readonly<Record<string, string>>
/** The edits that add a row to a table. */
type Added = readonly [Edit, ...Edit[]]

const code = (row: Row): string =>
  `{ ${Object.entries(row)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} }`

const states = {
  row: {
    to: `['completed']`,
    paid: 'true',
    released: 'false',
    tone: `'good'`
  },
  edits: (row: Row): Added => [
    { path: 'src/shop/orders/states.ts', instead: '  completed: {', text: `  packed: ${code(row)},\n  completed: {` }
  ]
}

const modules = {
  row: {
    about: `'wish lists'`,
    flag: `'hasWishLists'`,
    inFlags: 'true',
    inHealth: 'true',
    providesForms: 'false',
    isOnByDefault: 'true'
  },
  edits: (row: Row): Added => [
    {
      path: 'src/shop/settings/modules.ts',
      instead: '  donations: {',
      text: `  wishLists: ${code(row)},\n  donations: {`
    }
  ]
}

const benefitKinds = {
  row: {
    plural: `'vouchers'`,
    table: 'enrolments',
    since: `'started_at'`,
    sharesTotal: 'false',
    guests: `'need an account'`,
    start: '(_tx, { userId }, { worth }) => userId + worth',
    end: '() => ({ gatewayId: null })',
    list: '() => []',
    words: '(_db, { worth }) => `A voucher for ${worth}`',
    renewal: 'null',
    byHand: 'course.byHand'
  },
  edits: (row: Row): Added => [
    {
      path: 'src/shop/benefits/kinds.ts',
      instead: '  donation\n',
      text: `  donation,\n  voucher: ${code(row)}\n`
    },
    {
      path: 'src/shop/benefits/kinds.ts',
      instead: `import { donation }`,
      text: `import { enrolments } from './schema.ts'\nimport { donation }`
    }
  ]
}

/** One more value in each table and list; a table's row has every property. */
export const additions: readonly Edit[] = [
  ...states.edits(states.row),
  ...modules.edits(modules.row),
  ...benefitKinds.edits(benefitKinds.row),
  {
    path: 'src/shop/catalog/grants.ts',
    instead: '  donation: z.strictObject({',
    text: `  voucher: z.strictObject({ kind: z.literal('voucher'), worth: z.int() }),\n  donation: z.strictObject({`
  },
  {
    path: 'src/shop/catalog/product-types.ts',
    instead: '  digital: {',
    text: '  service: { isShipped: false, isVoucher: false },\n  digital: {'
  },
  {
    path: 'src/shop/orders/strategies.ts',
    instead: '  token_handoff: {',
    text: `  payment_link: { attemptKind: 'checkout_session', takesToken: false },\n  token_handoff: {`
  },
  {
    path: 'src/shop/checkout/order-form.ts',
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

/** Tables with a row that is wrong, by what is wrong with it, each with the error that it causes. */
export const wrongRows: Readonly<Record<string, { copy: Added; error: RegExp }>> = {
  ...withoutEach('order state', states),
  ...withoutEach('module', modules),
  ...withoutEach('benefit kind', benefitKinds),
  'an order state with a move to a state that does not exist': {
    copy: states.edits({ ...states.row, to: `['shipped']` }),
    error: /'"shipped"' is not assignable/
  },
  'a module with a flag of another form': {
    copy: modules.edits({ ...modules.row, flag: `'wishLists'` }),
    error: /^Type '"wishLists"' is not assignable/
  },
  'a benefit kind without a row in the registry': {
    copy: [{ path: 'src/shop/benefits/kinds.ts', instead: '  donation\n', text: '  donation\n' }],
    error: /^Property 'voucher' is missing/
  }
}

function withoutEach(what: string, { row, edits }: { row: Row; edits: (row: Row) => Added }) {
  return Object.fromEntries(
    Object.keys(row).map((missing) => {
      const rest = Object.fromEntries(Object.entries(row).filter(([name]) => name !== missing))
      return [
        `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what} without ${missing}`,
        { copy: edits(rest), error: new RegExp(`^Property '${missing}' is missing`) }
      ]
    })
  )
}
