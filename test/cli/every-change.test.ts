import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { groups } from '../../src/cli/groups.ts'
import { ShopCommand } from '../../src/cli/run.ts'
import { shopstead, testTerminal } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'

/** A command that changes one row of the demo shop, which has others beside it. */
type Change = {
  /** SQL that brings the demo shop into the state that the command needs. */
  given?: string
  /** What follows the command, with the name of the row. */
  args: readonly string[]
  input?: string
  /** The table and its only row that changes. */
  table: string
  row: number
  /** The same with the name of a row that does not exist. */
  wrong: readonly string[]
  /** What the command prints with --json. */
  json: object
  /** What the same command does with the row that it has changed: an error's code, or nothing more. */
  /** A row whose state refuses the change. */
  other?: readonly string[]
  again: 'done' | 'CONFLICT' | 'NOT_FOUND' | 'TRANSITION_REFUSED' | 'VALIDATION_FAILED'
}

const unknown = 'unknown@shop.example'
const lena = 'lena@shop.example'
const user = { table: 'users', row: 12 }
const order = { table: 'orders' }

const changes: Record<string, Change> = {
  'admin revoke': {
    args: ['1', '--yes'],
    table: 'users',
    row: 1,
    wrong: [unknown, '--yes'],
    json: { user: { id: 1 } },
    again: 'done'
  },
  'users set-password': {
    ...user,
    args: [lena, '--password-stdin'],
    input: 'gull-basalt-41\n',
    wrong: [unknown, '--password-stdin'],
    json: { user: { id: 12 } },
    again: 'done'
  },
  'users set-email': {
    ...user,
    args: [lena, 'l@shop.example'],
    wrong: [unknown, 'l@shop.example'],
    json: { user: { email: 'l@shop.example' } },
    again: 'NOT_FOUND'
  },
  'users set-name': {
    ...user,
    args: [lena, '--first-name', 'Helena'],
    wrong: [unknown, '--first-name', 'Helena'],
    json: { user: { id: 12 } },
    again: 'done'
  },
  'users set-address': {
    ...user,
    args: [lena, '--none'],
    wrong: [unknown, '--none'],
    json: { user: { id: 12 } },
    again: 'done'
  },
  'users verify': {
    ...user,
    given: 'UPDATE users SET email_verified_at = NULL',
    args: [lena],
    wrong: [unknown],
    json: { user: { id: 12 } },
    again: 'done'
  },
  'users deactivate': {
    ...user,
    args: [lena, '--yes'],
    wrong: [unknown, '--yes'],
    json: { user: { id: 12 } },
    again: 'done'
  },
  'users activate': {
    args: ['closed@shop.example'],
    table: 'users',
    row: 5,
    wrong: [unknown],
    json: { user: { id: 5 } },
    again: 'done'
  },
  'users logout': {
    given: `INSERT INTO sessions SELECT 'b' || substr(token_hash, 2), 12, remember_me, start_nonce_hash, created_at, last_seen_at, ends_at FROM sessions`,
    table: 'sessions',
    row: 2,
    args: [lena],
    wrong: [unknown],
    json: { user: { id: 12, email: lena } },
    again: 'done'
  },
  'users erase': {
    ...user,
    args: ['12', '--yes'],
    wrong: ['999', '--yes'],
    json: { user: { id: 12, displayName: 'Erased' } },
    again: 'done'
  },
  'offers set': {
    args: ['storm-lantern', '--price', '49'],
    table: 'products',
    row: 1,
    wrong: ['none', '--price', '49'],
    json: { offer: { productSlug: 'storm-lantern', price: { amount: 49 } } },
    again: 'done'
  },
  'offers publish': {
    given: 'UPDATE products SET published = 0',
    args: ['storm-lantern'],
    table: 'products',
    row: 1,
    wrong: ['none'],
    json: { offer: { productSlug: 'storm-lantern', state: 'listed' } },
    again: 'done'
  },
  'offers unpublish': {
    args: ['storm-lantern'],
    table: 'products',
    row: 1,
    wrong: ['none'],
    json: { offer: { productSlug: 'storm-lantern', state: 'unpublished' } },
    again: 'done'
  },
  'groups set': {
    given: "INSERT INTO customer_groups (slug, name, created_at) VALUES ('club', 'Club', 0)",
    args: ['wholesale', '--percent', '25'],
    table: 'customer_groups',
    row: 1,
    wrong: ['none', '--percent', '25'],
    json: { group: { slug: 'wholesale', percent: 25 } },
    again: 'done'
  },
  'groups remove': {
    given: 'INSERT INTO group_members VALUES (1, 12, 0)',
    args: ['wholesale', lena],
    table: 'group_members',
    row: 2,
    wrong: ['none', lena],
    json: { group: { slug: 'wholesale', members: 1 } },
    again: 'NOT_FOUND'
  },
  'groups delete': {
    given: "INSERT INTO customer_groups (slug, name, created_at) VALUES ('club', 'Club', 0)",
    args: ['club', '--yes'],
    table: 'customer_groups',
    row: 2,
    wrong: ['none', '--yes'],
    json: { deleted: { slug: 'club' } },
    again: 'NOT_FOUND'
  },
  'coupons set': {
    given: 'UPDATE affiliate_coupons SET affiliate_id = 2',
    args: ['WELCOME10', '--affiliate', 'mira'],
    table: 'affiliate_coupons',
    row: 1,
    wrong: ['NONE', '--affiliate', 'mira'],
    json: { coupon: { code: 'WELCOME10', affiliate: 'mira' } },
    again: 'done'
  },
  'commissions end': {
    args: ['1'],
    table: 'commission_rates',
    row: 1,
    wrong: ['999'],
    json: { rate: { id: 1, state: 'ended' } },
    again: 'done'
  },
  'gift-cards block': {
    args: ['1'],
    table: 'gift_cards',
    row: 1,
    wrong: ['99'],
    json: { giftCard: { id: 1, state: 'blocked' } },
    again: 'done'
  },
  'gift-cards unblock': {
    given: 'UPDATE gift_cards SET blocked_at = 1',
    args: ['1'],
    table: 'gift_cards',
    row: 1,
    wrong: ['99'],
    json: { giftCard: { id: 1, state: 'active' } },
    again: 'done'
  },
  'gift-cards cancel': {
    args: ['1', '--yes'],
    table: 'gift_cards',
    row: 1,
    wrong: ['99', '--yes'],
    json: { giftCard: { id: 1, state: 'empty' } },
    again: 'CONFLICT'
  },
  'gift-cards mail': {
    args: ['1', '--to', 'mira@shop.example'],
    table: 'gift_cards',
    row: 1,
    wrong: ['99'],
    json: { giftCard: { id: 1, recipientEmail: 'mira@shop.example' } },
    again: 'done'
  },
  'coupons disable': {
    args: ['WELCOME10'],
    table: 'coupons',
    row: 1,
    wrong: ['NONE'],
    json: { coupon: { code: 'WELCOME10', enabled: false } },
    again: 'done'
  },
  'orders complete': {
    ...order,
    args: ['82'],
    row: 82,
    wrong: ['999'],
    json: { order: { id: 82, status: 'completed' } },
    again: 'done',
    other: ['7']
  },
  'orders edit': {
    ...order,
    args: ['84', '--phone', '+49 40 2'],
    row: 84,
    wrong: ['999', '--phone', '+49 40 2'],
    json: { order: { id: 84 }, changed: ['phone'] },
    again: 'done',
    other: ['7', '--phone', '+49 40 2']
  },
  'orders ship': {
    ...order,
    args: ['84'],
    row: 84,
    wrong: ['999'],
    json: { order: { id: 84, status: 'completed' } },
    again: 'TRANSITION_REFUSED',
    other: ['92']
  },
  'orders paid': {
    ...order,
    args: ['92', '--yes'],
    row: 92,
    wrong: ['999', '--yes'],
    json: { order: { id: 92, status: 'processing' } },
    again: 'done',
    other: ['7', '--yes']
  },
  'orders cancel': {
    ...order,
    args: ['93', '--yes'],
    row: 93,
    wrong: ['999', '--yes'],
    json: { order: { id: 93, status: 'cancelled' } },
    again: 'done',
    other: ['7', '--yes']
  },
  'orders refund': {
    ...order,
    args: ['85', '--by-hand', '--yes'],
    row: 85,
    wrong: ['999', '--by-hand', '--yes'],
    json: { order: { id: 85, status: 'refunded' } },
    again: 'TRANSITION_REFUSED',
    other: ['92', '--by-hand', '--yes']
  },
  'affiliates approve': {
    args: ['jonas'],
    table: 'affiliates',
    row: 3,
    wrong: ['none'],
    json: { affiliate: { code: 'jonas', status: 'active' } },
    again: 'done'
  },
  'affiliates reject': {
    args: ['jonas'],
    table: 'affiliates',
    row: 3,
    wrong: ['none'],
    json: { affiliate: { code: 'jonas' } },
    again: 'done'
  },
  'affiliates deactivate': {
    args: ['mira', '--yes'],
    table: 'affiliates',
    row: 1,
    wrong: ['none', '--yes'],
    json: { affiliate: { status: 'inactive' } },
    again: 'done'
  },
  'referrals accept': {
    given:
      "UPDATE orders SET status = 'processing', paid_at = created_at WHERE id = (SELECT order_id FROM referrals WHERE id = 47)",
    args: ['47'],
    table: 'referrals',
    row: 47,
    wrong: ['999'],
    json: { referral: { id: 47, status: 'unpaid' } },
    again: 'done',
    other: ['39']
  },
  'referrals reject': {
    args: ['46', '--yes'],
    table: 'referrals',
    row: 46,
    wrong: ['999', '--yes'],
    json: { referral: { id: 46, status: 'rejected' } },
    again: 'done'
  },
  'benefits revoke': {
    args: ['subscription', '1', '--yes'],
    table: 'subscriptions',
    row: 1,
    wrong: ['subscription', '999', '--yes'],
    json: { revoked: { id: 1 } },
    again: 'NOT_FOUND'
  },
  'webhooks remove': {
    args: ['1', '--yes'],
    table: 'webhook_endpoints',
    row: 1,
    wrong: ['999', '--yes'],
    json: { removed: { id: 1, url: 'https://site.example/hook' } },
    again: 'NOT_FOUND'
  },
  'webhooks rotate': {
    args: ['1'],
    table: 'webhook_endpoints',
    row: 1,
    wrong: ['999'],
    json: { webhook: { id: 1 }, secret: expect.stringMatching(/^whsec_/), oldSecretEndsAt: expect.any(String) },
    again: 'done'
  },
  'webhooks replay': {
    args: ['1'],
    table: 'webhook_deliveries',
    row: 1,
    wrong: ['999'],
    json: { replayed: 1 },
    again: 'done'
  }
}

/** Commands that read, or that make something new or change the whole shop: they have tests of their own. */
const others = new Set(
  `desk enable|desk disable|desk invite|desk people|desk remove|desk log|desk open
dev|serve|init|migrate|seed|import wordpress|import shopify|import finish|users import|orders import|coupons import|affiliates import|admin create|admin list|users list|users show|users export|users create|offers list|offers show
offers add|offers reprice|offers convert|offers import|offers export|offers images add|offers images list|offers images order
offers images remove|offers images retry|coupons list|coupons create|shipping list|shipping set|shipping remove|tax list
tax set|tax remove|tax preset eu|tax check-id|modules list|modules enable|modules disable|settings list|settings get|settings set
settings unset|orders return|orders returns|orders note|users note|orders list|orders export|orders create|orders show|orders explain|orders reconcile|orders invoice|orders documents
orders pack|orders warnings|orders declarations|affiliates list|affiliates show|affiliates create|affiliates set|commissions list|commissions add|referrals list|referrals show|referrals pay
payouts plan|payouts pay|payouts list|payouts show|payouts fail|payouts adopt|referrals create|affiliates bonus
referrals export|benefits list|benefits grant|sandbox pay|sandbox fault|sandbox faults|sandbox clear-faults
sandbox dispute|sandbox renew|sales create|sales list|sales end|groups list|groups show|groups create|groups add|groups price|groups prices|groups import-prices|gift-cards issue|gift-cards list|gift-cards show|offers rename|redirects list|redirects show|redirects add|redirects remove|redirects import|holiday start|holiday end|holiday show|law init|law list|report sales|report products|report coupons|report affiliates|report stock|report tax|report oss|report ec-sales|report gift-cards|report journal
report payments|stripe setup|webhooks list|webhooks add|webhooks deliveries|events list|events types|mail resend
mail preview|mail test|backup create|backup list|backup verify|backup restore|replicate|restore|promote|create
proxy check|openapi|completion|systemd|guide|health`.split(/[|\n]/)
)

/** Commands that act on the whole shop, or on what is no row of a table, with what they print with --json. */
const wholeShop: [words: string, json: object][] = [
  ['modules disable courses', { modules: expect.arrayContaining([{ name: 'courses', enabled: false }]) }],
  ['modules enable courses', { modules: expect.arrayContaining([{ name: 'courses', enabled: true }]) }],
  ['settings set shop.name Lighthouse', { key: 'shop.name', value: 'Lighthouse', default: 'Shopstead Demo' }],
  ['settings unset shop.name', { key: 'shop.name', value: 'Shopstead Demo', default: 'Shopstead Demo' }],
  ['holiday start --until 2090-01-01 --message Back', { holiday: { message: 'Back', until: '2090-01-01' } }],
  ['holiday end', { holiday: null }],
  [
    'shipping set Germany --method express --name Express --amount 15',
    { zone: { zone: 'Germany', methods: [{ id: 'standard' }, { id: 'express', amount: 15 }] } }
  ],
  ['shipping remove Germany --method express --yes', { zone: { zone: 'Germany', methods: [{ id: 'standard' }] } }],
  [
    'tax preset eu',
    { rates: expect.arrayContaining([{ country: 'AT', class: 'standard', ratePercent: 20, name: 'VAT' }]) }
  ],
  ['tax set US --region NY --rate 8.875 --name Sales', { rate: { country: 'US', region: 'NY', ratePercent: 8.875 } }],
  ['tax remove DE --yes', { removed: [{ country: 'DE' }] }],
  [
    'offers reprice --percent 5 --round 0.05 --yes',
    { changed: expect.arrayContaining([expect.objectContaining({ slug: 'tealight-lantern', from: 14.5, to: 15.25 })]) }
  ]
]

const program = new ShopCommand(testTerminal().terminal, 'shopstead')
beforeAll(async () => {
  for (const group of groups) (await group.load()).define(program)
})

function pathsOf(command: ShopCommand, path = ''): string[] {
  const children = command.commands.filter((child) => child instanceof ShopCommand)
  return children.length === 0 ? [path] : children.flatMap((child) => pathsOf(child, `${path} ${child.name()}`.trim()))
}

/** Every row of the database that a command may change, by its table and row id. */
function rowsOf(dataDir: string): Map<string, string> {
  const db = new Database(join(dataDir, 'shopstead.db'), { readonly: true })
  const named = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%WITHOUT ROWID%' AND sql NOT LIKE 'CREATE VIRTUAL%'`
  const tables = db.prepare<[], string>(named).pluck().all()
  const rows = tables.flatMap((table) =>
    db
      .prepare<[], { row: number }>(`SELECT rowid AS row, * FROM "${table}"`)
      .all()
      .map((row) => [`${table} ${row.row}`, JSON.stringify(row)] as const)
  )
  db.close()
  return new Map(rows)
}

function prepare(dataDir: string, sql: string): void {
  const db = new Database(join(dataDir, 'shopstead.db'))
  db.exec(sql)
  db.close()
}

function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...before].filter(([key, row]) => after.get(key) !== row).map(([key]) => key)
}

describe('a command that changes a row', () => {
  test('is in the table of this test, or in the list of the others', () => {
    const paths = pathsOf(program)
    expect(paths.filter((path) => !(path in changes) && !others.has(path))).toEqual([])
    expect([...Object.keys(changes), ...others].filter((path) => !paths.includes(path))).toEqual([])
  })

  test.each(Object.entries(changes))(
    '%s',
    async (path, { given, args, input, table, row, wrong, json, again, other }) => {
      const dataDir = demoShop()
      if (given !== undefined) prepare(dataDir, given)
      const run = (words: readonly string[]) =>
        shopstead(dataDir, [...path.split(' '), ...words, '--json'], input === undefined ? {} : { input })
      const before = rowsOf(dataDir)
      const missing = await run(wrong)
      expect([missing.code, missing.json]).toMatchObject([1, { error: { code: 'NOT_FOUND' } }])
      expect(changed(before, rowsOf(dataDir))).toEqual([])
      if (other !== undefined) {
        const refused = await run(other)
        expect([refused.code, refused.json]).toMatchObject([1, { error: { code: 'TRANSITION_REFUSED' } }])
        expect(changed(before, rowsOf(dataDir))).toEqual([])
      }
      const done = await run(args)
      expect([done.code, done.json]).toMatchObject([0, json])
      const after = rowsOf(dataDir)
      expect(changed(before, after).filter((key) => key.startsWith(`${table} `))).toEqual([`${table} ${row}`])
      const second = await run(args)
      if (again === 'done') expect(second.code).toBe(0)
      else expect([second.code, second.json]).toMatchObject([1, { error: { code: again } }])
    }
  )
})

describe('a command that changes the whole shop', () => {
  test.each(wholeShop)('%s', async (words, json) => {
    const dataDir = demoShop()
    const { code, json: printed } = await shopstead(dataDir, [...words.split(' '), '--json'])
    expect([code, printed]).toMatchObject([0, json])
  })
})
