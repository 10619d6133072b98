import { describe, expect, it } from 'vitest'
import { readModule, readModules } from './support/module-graph.ts'
import type { Module } from './support/module-graph.ts'

/**
 * The layers from the bottom up. A module imports only from lower layers, and not from its neighbours in the same layer.
 * A name is a file or folder in src.
 */
const floors: readonly (readonly string[])[] = [
  ['errors.ts', 'client'],
  ['platform'],
  ['shop/context.ts', 'sandbox'],
  ['shop/settings', 'shop/events', 'shop/moved'],
  ['shop/mail', 'shop/webhooks', 'shop/limits'],
  // What import files say about these subjects: the catalog reads it, and the subjects apply it.
  ['shop/shipping/input.ts', 'shop/tax/input.ts', 'shop/benefits/input.ts'],
  ['shop/accounts', 'shop/catalog'],
  ['shop/desk', 'shop/redirects'],
  ['shop/affiliates', 'shop/benefits', 'shop/shipping', 'shop/tax', 'shop/gift-cards'],
  ['shop/referrals', 'shop/invoices', 'shop/feeds', 'shop/groups'],
  ['shop/orders'],
  ['shop/payments', 'shop/shipments'],
  ['shop/payouts', 'shop/declarations'],
  ['shop/checkout', 'shop/entitlements', 'shop/mailer', 'shop/subscriptions'],
  ['shop/corrections'],
  ['shop/customers'],
  ['app.ts'],
  ['operations'],
  ['api'],
  ['proxy', 'pages'],
  ['web-app.ts'],
  ['start-server.ts', 'follow-server.ts', 'open-desk.ts'],
  ['cli', 'testing']
]

/** Only entry points import these packages: they handle requests and command lines. */
const entryPointPackages = new Set(['h3', 'srvx', 'listhen', 'commander', 'fast-string-width'])

const entryPoints = ['api', 'proxy', 'pages', 'cli']
/** Entry points do not import these files at all. */
const sqlFiles = /(^|\/)schema\.ts$|^platform\/db\/columns\.ts$/
/** Entry points import only types from these files: their functions open a transaction. */
const transactionFiles = new Set(['platform/db/database.ts', 'shop/catalog/dry-run.ts'])
const databasePackages = new Set(['drizzle-orm', 'better-sqlite3'])

/** The files that use SQL as text, by what the query builder cannot say. Every other file queries with drizzle's builders. */
const rawSql: Readonly<Record<string, readonly string[]>> = {
  'pragmas, and copies, locks and checks of whole databases': [
    'operations/backup/create.ts',
    'operations/backup/inspect.ts',
    'operations/backup/lost-payouts.ts',
    'operations/backup/manifest.ts',
    'operations/backup/restore.ts',
    'operations/catalog-copy.ts',
    'operations/change-setting.ts',
    'operations/diagnosis/database-checks.ts',
    'operations/moving-in/copy-shop.ts',
    'operations/personal-traces.ts',
    'operations/replica/follow.ts',
    'operations/replica/restore.ts',
    'platform/db/checkpoints.ts',
    'platform/db/database-id.ts',
    'platform/db/database.ts',
    'platform/db/migrate.ts',
    'platform/db/old-content.ts',
    'platform/process-lock.ts',
    'shop/accounts/recover.ts',
    'start-server.ts'
  ],
  'a database of its own, without tables of drizzle': ['platform/limits.ts'],
  'reports and figures: groups, unions and windows over many rows, with the index named where it matters': [
    'operations/diagnosis/folder-checks.ts',
    'operations/metrics/shop-metrics.ts',
    'operations/reports/products.ts',
    'operations/reports/sales.ts',
    'operations/reports/stock.ts',
    'shop/catalog/manage/reprice.ts',
    'shop/catalog/offers.ts',
    'shop/customers/export-orders.ts',
    'shop/customers/orders-csv.ts',
    'shop/invoices/tax-sums.ts',
    'shop/payments/attempts.ts',
    'shop/payments/subscriptions.ts',
    'shop/payments/webhook.ts',
    'shop/webhooks/deliveries.ts'
  ],
  'full-text search, and the functions that fold text for it': [
    'shop/catalog/manage/list-products.ts',
    'shop/catalog/search/find-products.ts',
    'shop/catalog/search/index-product.ts',
    'shop/catalog/search/parse-search.ts'
  ],
  'one statement for many tables of the same form, or for what belongs to a person': [
    'shop/benefits/give.ts',
    'shop/benefits/records.ts',
    'shop/checkout/buyer-order.ts',
    'shop/entitlements/account-state.ts',
    'shop/settings/settings.ts'
  ],
  'row values, json_each, and conditions of an INSERT, UPDATE or DELETE on other tables': [
    'shop/benefits/kinds/download.ts',
    'shop/benefits/kinds/membership.ts',
    'shop/benefits/kinds/subscription.ts',
    'shop/benefits/subscriptions.ts',
    'shop/catalog/images/media-files.ts',
    'shop/catalog/sellable.ts',
    'shop/events/list-events.ts',
    'shop/orders/buyer.ts',
    'shop/orders/invoice-order.ts',
    'shop/payments/end-hold.ts',
    'shop/webhooks/emit.ts'
  ]
}

function placeOf(path: string): { name: string; floor: number } | undefined {
  for (const [floor, names] of floors.entries()) {
    const name = names.find((candidate) => path === candidate || path.startsWith(`${candidate}/`))
    if (name !== undefined) return { name, floor }
  }
  return undefined
}

function wrongImports(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, imports }) =>
    imports.filter((target) => !mayImport(path, target)).map((target) => `${path} imports ${target}`)
  )
}

function mayImport(path: string, target: string): boolean {
  const from = placeOf(path)
  const to = placeOf(target)
  if (from === undefined || to === undefined) return false
  return from.name === to.name || to.floor < from.floor
}

/** SQL, tables and transactions in entry points: these belong to functions of shop/ and operations/. */
function databaseUses(modules: readonly Module[]): string[] {
  const outside = modules.filter(({ path }) => entryPoints.some((name) => path.startsWith(`${name}/`)))
  return outside.flatMap(({ path, packages, imports, valueImports, usesConnection }) =>
    [
      ...packages.filter((name) => databasePackages.has(name)),
      ...imports.filter((target) => sqlFiles.test(target)),
      ...valueImports.filter((target) => transactionFiles.has(target)),
      ...(usesConnection ? ['a connection'] : [])
    ].map((what) => `${path} uses ${what}`)
  )
}

function cycles(modules: readonly Module[]): string[] {
  const importsOf = new Map(modules.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const found: string[] = []
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || done.has(path)) return
    for (const next of importsOf.get(path) ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const { path } of modules) walk(path, [])
  return found
}

const paths = (modules: readonly Module[]): string[] => modules.map(({ path }) => path)

describe('the sources', () => {
  const modules = readModules('src')

  it('are all checked', () => {
    expect(modules.length).toBeGreaterThan(150)
    expect(paths(modules)).toEqual(
      expect.arrayContaining(['errors.ts', 'app.ts', 'cli/main.ts', 'shop/orders/transition.ts'])
    )
    expect(modules.flatMap(({ imports }) => imports).length).toBeGreaterThan(500)
  })

  it('each belong to a layer', () => {
    expect(paths(modules).filter((path) => placeOf(path) === undefined)).toEqual([])
  })

  it('import only from lower layers', () => {
    expect(wrongImports(modules)).toEqual([])
  })

  it('import the sandbox only in app.ts and in its command', () => {
    const knowing = modules.filter(({ imports }) => imports.some((target) => target.startsWith('sandbox/')))
    expect(paths(knowing).filter((path) => !path.startsWith('sandbox/'))).toEqual(['app.ts', 'cli/site/sandbox.ts'])
  })

  it('use no SQL, no table and no transaction in entry points', () => {
    expect(databaseUses(modules)).toEqual([])
  })

  it('query with drizzle, and with SQL as text only in listed files', () => {
    const found = modules.filter(({ path, usesRawSql }) => usesRawSql && !path.startsWith('sandbox/'))
    expect(paths(found)).toEqual(Object.values(rawSql).flat().toSorted())
  })

  it('fill no folder with more than 25 of them', () => {
    const folders = Map.groupBy(paths(modules), (path) => path.slice(0, path.lastIndexOf('/') + 1))
    expect([...folders].filter(([, files]) => files.length > 25).map(([folder]) => folder)).toEqual([])
  })

  it('have no import cycles', () => {
    expect(cycles(modules)).toEqual([])
  })

  it('have no file that only re-exports, except the entry of the client, which gathers what a site imports', () => {
    expect(paths(modules.filter((module) => module.onlyHandsOn))).toEqual(['client/client.ts'])
  })

  it('read the environment in one place', () => {
    expect(paths(modules.filter((module) => module.readsEnvironment))).toEqual(['cli/terminal/terminal.ts'])
  })

  it('use the streams and signals of the process in one file of the command line', () => {
    const reaching = modules.filter(({ path, usesProcess }) => path.startsWith('cli/') && usesProcess)
    expect(paths(reaching)).toEqual(['cli/terminal/terminal.ts'])
  })

  it('have no side effects when they are imported', () => {
    expect(paths(modules.filter((module) => module.runsOnImport))).toEqual([])
  })

  it('do not import the web framework or the command line in the shop', () => {
    const inside = modules.filter(({ path }) => path.startsWith('shop/'))
    const found = inside.flatMap(({ path, packages }) =>
      packages.filter((name) => entryPointPackages.has(name)).map((name) => `${path} imports ${name}`)
    )
    expect(found).toEqual([])
  })

  it('import only their own files, the texts and the typed client in the storefront and its scripts', () => {
    const scripts = readModules('src', 'pages/assets/*.js')
    const own = [...modules.filter(({ path }) => path.startsWith('pages/storefront/')), ...scripts]
    const foreign = own.flatMap(({ path, imports, packages }) =>
      [
        ...imports.filter((target) => !/^(pages\/(storefront|assets)|platform\/texts|client)\//.test(target)),
        ...packages
      ].map((target) => `${path} imports ${target}`)
    )
    expect([scripts.length > 3, foreign]).toEqual([true, []])
  })
})

describe('the rules themselves', () => {
  const source = (path: string, text: string): Module => readModule(path, text)

  it('find SQL, tables and transactions in entry points, and accept types', () => {
    const database = '../platform/db/database.ts'
    const modules = [
      source(
        'cli/users.ts',
        `import { eq } from 'drizzle-orm'\nimport type { orders } from '../shop/orders/schema.ts'`
      ),
      source('api/orders.ts', `import { write } from '${database}'\nimport type { Db } from '${database}'`),
      source('pages/pay-page.ts', `export const later = () => import('../platform/db/database.ts')`),
      source('cli/orders.ts', `export const all = ({ db }) => db.orm.select()`),
      source('proxy/proxy.ts', `import type { Db } from '${database}'`),
      source('shop/orders/find.ts', `import { write } from '../../platform/db/database.ts'`)
    ]
    expect(databaseUses(modules)).toEqual([
      'cli/users.ts uses drizzle-orm',
      'cli/users.ts uses shop/orders/schema.ts',
      'api/orders.ts uses platform/db/database.ts',
      'pages/pay-page.ts uses platform/db/database.ts',
      'cli/orders.ts uses a connection'
    ])
  })

  it('find an upward import in every notation', () => {
    const modules = [
      source('platform/money.ts', `import type { OrderRow } from '../shop/orders/find.ts'`),
      source('shop/orders/view.ts', `export const later = () => import('../../api/route.ts')`),
      source('shop/catalog/offers.ts', `export { toUser } from '../accounts/view.ts'`),
      source('app.ts', `export type Work = { app: import('./cli/run.ts').Work }`),
      source('shop/orders/find.ts', `import { getUser } from '../accounts/find.ts'`)
    ]
    expect(wrongImports(modules)).toEqual([
      'platform/money.ts imports shop/orders/find.ts',
      'shop/orders/view.ts imports api/route.ts',
      'shop/catalog/offers.ts imports shop/accounts/view.ts',
      'app.ts imports cli/run.ts'
    ])
  })

  it('find an import cycle', () => {
    const modules = [
      source('shop/orders/a.ts', `import './b.ts'`),
      source('shop/orders/b.ts', `import type { C } from './c.ts'`),
      source('shop/orders/c.ts', `import { a } from './a.ts'`),
      source('shop/orders/d.ts', `import { a } from './a.ts'`)
    ]
    expect(cycles(modules)).toEqual(['shop/orders/a.ts → shop/orders/b.ts → shop/orders/c.ts → shop/orders/a.ts'])
  })

  it('find a file that only re-exports, one that reads the environment and one with side effects', () => {
    expect(source('shop/orders/index.ts', `export * from './view.ts'`).onlyHandsOn).toBe(true)
    expect(source('shop/orders/view.ts', `export const view = process.env.HOME`).readsEnvironment).toBe(true)
    expect(
      source('shop/orders/view.ts', `// process.env is read elsewhere\nexport const view = 1`).readsEnvironment
    ).toBe(false)
    expect(source('platform/db/open.ts', `openDatabase('shopstead.db')`).runsOnImport).toBe(true)
  })
})
