import { describe, expect, it } from 'vitest'
import { readModule, readModules } from './support/module-graph.ts'
import type { Module } from './support/module-graph.ts'

/**
 * The house from the ground up (imports go to lower lines only; what stands on one line does not know its neighbours).
 * A name is a file or folder below src.
 */
const floors: readonly (readonly string[])[] = [
  ['errors.ts', 'client'],
  ['platform'],
  ['shop/context.ts', 'sandbox'],
  ['shop/settings', 'shop/events'],
  ['shop/mail', 'shop/webhooks', 'shop/limits'],
  ['shop/outbox'],
  ['shop/accounts', 'shop/catalog'],
  ['shop/affiliates', 'shop/benefits'],
  ['shop/referrals'],
  ['shop/orders'],
  ['shop/payments'],
  ['shop/checkout', 'shop/entitlements', 'shop/mailer'],
  ['shop/customers'],
  ['app.ts'],
  ['operations'],
  ['api'],
  ['proxy', 'pages'],
  ['start-server.ts'],
  ['cli']
]

/** What a request or a command line brings stops at the faces. */
const packagesOfFaces = new Set(['h3', 'srvx', 'listhen', 'commander', 'cli-table3'])

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

  it('are all looked at', () => {
    expect(modules.length).toBeGreaterThan(150)
    expect(paths(modules)).toEqual(
      expect.arrayContaining(['errors.ts', 'app.ts', 'cli/main.ts', 'shop/orders/transition.ts'])
    )
    expect(modules.flatMap(({ imports }) => imports).length).toBeGreaterThan(500)
  })

  it('have a place in the house each', () => {
    expect(paths(modules).filter((path) => placeOf(path) === undefined)).toEqual([])
  })

  it('import downwards only, and no neighbour', () => {
    expect(wrongImports(modules)).toEqual([])
  })

  it('know of the sandbox only where the app is put together and where it is steered', () => {
    const knowing = modules.filter(({ imports }) => imports.some((target) => target.startsWith('sandbox/')))
    expect(paths(knowing).filter((path) => !path.startsWith('sandbox/'))).toEqual(['app.ts', 'cli/sandbox.ts'])
  })

  it('go round in no circle', () => {
    expect(cycles(modules)).toEqual([])
  })

  it('hold no file that only hands on what others export', () => {
    expect(paths(modules.filter((module) => module.onlyHandsOn))).toEqual([])
  })

  it('read the environment in one place', () => {
    expect(paths(modules.filter((module) => module.readsEnvironment))).toEqual(['cli/terminal.ts'])
  })

  it('reach the streams and signals of the process from one file of the command line', () => {
    const reaching = modules.filter(({ path, usesProcess }) => path.startsWith('cli/') && usesProcess)
    expect(paths(reaching)).toEqual(['cli/terminal.ts'])
  })

  it('do nothing when they are imported', () => {
    expect(paths(modules.filter((module) => module.runsOnImport))).toEqual([])
  })

  it('keep the web framework and the command line out of the shop', () => {
    const inside = modules.filter(({ path }) => path.startsWith('shop/'))
    const found = inside.flatMap(({ path, packages }) =>
      packages.filter((name) => packagesOfFaces.has(name)).map((name) => `${path} imports ${name}`)
    )
    expect(found).toEqual([])
  })
})

describe('the rules themselves', () => {
  const source = (path: string, text: string): Module => readModule(path, text)

  it('find an import upwards, however it is written', () => {
    const modules = [
      source('platform/money.ts', `import type { OrderRow } from '../shop/orders/rows.ts'`),
      source('shop/orders/view.ts', `export const later = () => import('../../api/route.ts')`),
      source('shop/catalog/offers.ts', `export { toUser } from '../accounts/view.ts'`),
      source('app.ts', `export type Work = { app: import('./cli/run.ts').Work }`),
      source('shop/orders/find.ts', `import { getUser } from '../accounts/find.ts'`)
    ]
    expect(wrongImports(modules)).toEqual([
      'platform/money.ts imports shop/orders/rows.ts',
      'shop/orders/view.ts imports api/route.ts',
      'shop/catalog/offers.ts imports shop/accounts/view.ts',
      'app.ts imports cli/run.ts'
    ])
  })

  it('find a circle', () => {
    const modules = [
      source('shop/orders/a.ts', `import './b.ts'`),
      source('shop/orders/b.ts', `import type { C } from './c.ts'`),
      source('shop/orders/c.ts', `import { a } from './a.ts'`),
      source('shop/orders/d.ts', `import { a } from './a.ts'`)
    ]
    expect(cycles(modules)).toEqual(['shop/orders/a.ts → shop/orders/b.ts → shop/orders/c.ts → shop/orders/a.ts'])
  })

  it('find a file that hands on, one that reads the environment and one that runs when imported', () => {
    expect(source('shop/orders/index.ts', `export * from './view.ts'`).onlyHandsOn).toBe(true)
    expect(source('shop/orders/view.ts', `export const view = process.env.HOME`).readsEnvironment).toBe(true)
    expect(
      source('shop/orders/view.ts', `// process.env is read elsewhere\nexport const view = 1`).readsEnvironment
    ).toBe(false)
    expect(source('platform/db/open.ts', `openDatabase('shopstead.db')`).runsOnImport).toBe(true)
  })
})
