import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { existsSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { assetFiles } from '../../.config/assets.ts'
import { packagesOfData } from '../../.config/notices.ts'
import { clientTypes } from '../../src/api/description/client-types.ts'
import { describeApi } from '../../src/api/description/document.ts'
import { Browser } from '../support/browser.ts'
import { installPacked } from '../support/packed.ts'
import { quay } from '../support/addresses.ts'
import { sitePackageTests } from './site-packages.ts'
import { starterTests } from './starters.ts'

const packed = installPacked()
const { folder, home, installed, program } = packed
// A site of Next.js has thousands of files.
afterAll(() => packed.remove(), 300_000)

const environment = { PATH: process.env.PATH, HOME: folder, SHOPSTEAD_ENV: 'development', SHOPSTEAD_LOG: 'warn' }

const vitestImport = "import { afterAll as after, beforeEach, test } from 'vitest'"

/** Runs the installed command in the empty folder, which becomes the parent of its `data`. */
function shopstead(...args: string[]): unknown {
  const options = { cwd: home, env: environment, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, [program, ...args, '--json'], options))
}

/** The modules that a file of the package imports when it loads. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(installed, file), 'utf8')
  return [...text.matchAll(/^(?:import|export) (?:.* from )?"([^"]+)"/gm)].map(([, name = '']) => name)
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

/** The packages that npm installed with this one, each with its version. */
function installedPackages(): string[] {
  const modules = join(home, 'node_modules')
  return globSync('{*,@*/*}/package.json', { cwd: modules })
    .map((file) => dirname(file).replaceAll('\\', '/'))
    .filter((name) => name !== 'shopstead')
    .map((name) => `${name} ${versionIn(join(modules, name))}`)
}

type Server = { process: ChildProcessByStdio<null, Readable, null>; apiRoot: string; url: string }

const started: Server['process'][] = []
afterAll(() => started.forEach((child) => child.kill('SIGKILL')))

async function serve(...options: string[]): Promise<Server> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json', ...options], {
    cwd: home,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore']
  })
  started.push(child)
  for await (const line of createInterface({ input: child.stdout })) return { process: child, ...JSON.parse(line) }
  throw new Error('the server ended before it listened')
}

/** Stops the server and returns its exit code. */
async function stop({ process: child }: Server): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

describe('the package', () => {
  it('contains the bundle and its assets, the documentation, the seeds and the notices, but no sources or tests', () => {
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'package.json',
        'bin/shopstead.js',
        'dist/main.js',
        'dist/build-id',
        'dist/THIRD-PARTY-NOTICES.txt',
        'dist/shopstead.1',
        'dist/starters/next/app/layout.tsx',
        'dist/starters/plain/server.ts',
        'dist/platform/db/migrations/0000_baseline.sql',
        'dist/platform/db/migrations/meta/_journal.json',
        'docs/operating.md',
        'seeds/demo/catalog.json'
      ])
    )
    const foreign = packed.files.filter(
      (file) => !/^(bin|dist|docs|seeds)\/|^(package\.json|README\.md|LICENSE)$/.test(file)
    )
    expect(foreign).toEqual([])
    // The files that "shopstead create" writes are sources of the site.
    const ours = packed.files.filter((file) => !file.startsWith('dist/starters/'))
    expect(ours.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([])
    const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    expect(notices).toContain('Apache License')
  })

  it('prints its documentation', () => {
    const { topics } = shopstead('guide') as { topics: { topic: string }[] }
    expect(topics).toContainEqual({ topic: 'operating', title: 'Operating a shop' })
  })

  it('bundles libraries and data together with their licences, and does not bundle installed dependencies', () => {
    const maps = packed.files.filter((file) => file.endsWith('.js.map'))
    const sources = maps.flatMap((file) => {
      const map = JSON.parse(readFileSync(join(installed, file), 'utf8')) as { sources: string[] }
      return map.sources
    })
    expect(sources.length).toBeGreaterThan(200)
    const libraries = sources.map((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1])
    const strange = sources.filter(
      (source, index) => libraries[index] === undefined && !/(^|\/)(src\/|\.config\/late-)/.test(source)
    )
    expect(strange).toEqual([])
    const bundled = new Set(libraries.filter((name) => name !== undefined))
    const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    const named = new Set([...notices.matchAll(/^-{79}\n\n(\S+) \d\S+$/gm)].map(([, name]) => name))
    for (const name of packagesOfData(assetFiles()).keys()) bundled.add(name)
    expect([...bundled].filter((name) => !named.has(name))).toEqual([])
    const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
    const { dependencies } = JSON.parse(manifest) as { dependencies: object }
    expect(Object.keys(dependencies).filter((name) => bundled.has(name))).toEqual([])
  })

  it('has a bill of materials with each bundled package and each installed one, and nothing of the development', () => {
    type Component = { name: string; version: string; purl: string; properties: { name: string }[] }
    const file = readFileSync(join(installed, 'dist', 'sbom.cdx.json'), 'utf8')
    const sbom = JSON.parse(file) as { bomFormat: string; metadata: object; components: Component[] }
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'shopstead', type: 'application' } }
    })
    const isBundled = ({ properties }: Component) => properties.some(({ name }) => name === 'shopstead:bundled')
    const listed = (components: Component[]) => components.map(({ name, version }) => `${name} ${version}`).toSorted()
    const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    const named = [...notices.matchAll(/^-{79}\n\n(\S+ \d\S+)$/gm)].map(([, line = '']) => line)
    expect(named).toContain(`zod ${versionIn('node_modules/zod')}`)
    expect(listed(sbom.components.filter(isBundled))).toEqual(named.toSorted())
    const beside = listed(sbom.components.filter((component) => !isBundled(component)))
    // npm installs only the native code for this machine, and the bill of materials lists that of all.
    expect(installedPackages().filter((line) => !beside.includes(line))).toEqual([])
    expect(sbom.components.filter(({ purl }) => !purl.startsWith('pkg:npm/'))).toEqual([])
    expect(listed(sbom.components).filter((line) => /^(vitest|typescript|oxlint) /.test(line))).toEqual([])
  })

  it('loads only the code that a command uses', () => {
    const chunks = packed.files.filter((file) => file.startsWith('dist/chunks/') && file.endsWith('.js'))
    const reached = (file: string, seen = new Set<string>()): Set<string> => {
      for (const name of importsOf(file)) {
        if (seen.has(name)) continue
        seen.add(name)
        if (name.startsWith('./')) reached(join('dist/chunks', name), seen)
      }
      return seen
    }
    const packagesOf = (layer: string): string[] => {
      const file = chunks.find((chunk) => chunk.startsWith(`dist/chunks/${layer}-`)) ?? ''
      return [...reached(file)].filter((name) => !name.startsWith('./') && !isBuiltin(name)).toSorted()
    }
    for (const layer of ['command', 'proxy', 'systemd']) expect(packagesOf(layer)).toEqual([])
    expect(packagesOf('listener')).toEqual([])
    expect(packagesOf('server')).toEqual(['better-sqlite3', 'csv-stringify/sync'])
  })

  it('declares the types that the API description gives', () => {
    const place = { publicUrl: 'https://shop.test', apiPrefix: '/api/v1', cookieName: 'shopstead_session' }
    const bare = (source: string): string => source.replaceAll(/[\s;|()]|^\/\/.*$/gm, '')
    const packed = readFileSync(join(installed, 'dist', 'client', 'api-types.d.ts'), 'utf8')
    expect(bare(packed)).toBe(bare(clientTypes(describeApi(place))))
  })

  it('declares the types of its client and its proxy', async () => {
    const file = join(home, 'site.mts')
    writeFileSync(
      file,
      `import { createClient, ShopError } from 'shopstead/client'
import { createProxy } from 'shopstead/proxy'
import { toNodeListener } from 'shopstead/proxy/node'
import { startShop } from 'shopstead/testing'
import { verifyWebhook } from 'shopstead/webhooks'
const client = createClient()
const { user } = await client.get('/me')
export const id: number = user.id
// @ts-expect-error there is no such path
await client.get('/nowhere')
export const about = (error: ShopError) => (error.is('AUTH_RATE_LIMITED') ? error.details.bucket : '')
export const handle: (request: Request) => Promise<Response> = createProxy({ upstream: 'http://127.0.0.1:3000' })
export const listener = toNodeListener(handle)
export const mailTo = async () => (await (await startShop({ seed: 'demo', clock: 0 })).lastMail())?.to
export const skus = async (body: string, headers: Headers) => {
  const event = await verifyWebhook(body, headers, ['whsec_YQ=='])
  // @ts-expect-error only some events have an order
  event.data.order
  return event.type === 'order.paid' ? event.data.order?.lines.map(({ sku }) => sku) : []
}
`
    )
    const flags = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--target',
      'es2024',
      '--module',
      'nodenext',
      '--types',
      'node'
    ]
    const typeRoots = ['--typeRoots', join(process.cwd(), 'node_modules', '@types')]
    const tsc = join(process.cwd(), 'node_modules', 'typescript', 'bin', 'tsc')
    const checked = await promisify(execFile)(process.execPath, [tsc, ...flags, ...typeRoots, file], { cwd: home })
    expect(checked.stdout).toBe('')
  })
})

describe('the installed package', () => {
  it('sells a product to a guest, starting from an empty folder', async () => {
    expect(shopstead('init')).toMatchObject({ shopId: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(shopstead('migrate')).toMatchObject({ pending: [] })
    expect(shopstead('seed', '--demo')).toMatchObject({ created: { orders: 95 } })
    expect(existsSync(join(home, 'data', 'shopstead.db'))).toBe(true)
    expect(shopstead('health')).toMatchObject({ checks: expect.any(Array) })
    const server = await serve()
    const visitor = new Browser(server.apiRoot)
    expect((await visitor.get('/health')).data).toMatchObject({ status: 'ok', buildFlavor: 'dist' })
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    const productId = data.offers[0]?.productId
    const body = {
      items: [{ productId, quantity: 1 }],
      shippingAddress: quay,
      shippingMethod: 'standard',
      returnUrl: 'https://shop.example/thanks'
    }
    const session = await visitor.post<{ checkoutUrl: string; orderId: string }>('/store/checkout-session', body)
    expect(session.status).toBe(200)
    const { checkoutUrl, orderId } = session.data
    const paid = await visitor.form(checkoutUrl, { payment_method: 'pm_card_visa', email: 'guest@example.com' })
    expect(paid.status).toBe(303)
    expect(await visitor.comeBack(paid)).toContain('result=success')
    expect(shopstead('orders', 'show', orderId)).toMatchObject({ order: { status: 'processing' } })
    const pdf = join(home, 'invoice.pdf')
    expect(shopstead('orders', 'invoice', orderId, '--file', pdf)).toMatchObject({ invoice: { kind: 'invoice' } })
    expect(readFileSync(pdf).subarray(0, 5).toString()).toBe('%PDF-')
    expect(await stop(server)).toBe(0)
  })

  it('serves a visitor of a site that mounts its proxy and uses its client', async () => {
    const site = join(home, 'site.mjs')
    writeFileSync(
      site,
      `import { createServer } from 'node:http'
import { createClient, ShopError } from 'shopstead/client'
import { createProxy } from 'shopstead/proxy'
import { toNodeListener } from 'shopstead/proxy/node'
const server = createServer(toNodeListener(createProxy({ upstream: process.argv[2] })))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const client = createClient({ baseUrl: 'http://127.0.0.1:' + server.address().port + '/api/secure' })
const { status } = await client.get('/health')
const refused = await client.get('/me').catch((error) => error)
console.log(JSON.stringify({ status, code: refused instanceof ShopError && refused.code }))
server.close()
server.closeAllConnections()
`
    )
    const server = await serve()
    const { stdout } = await promisify(execFile)(process.execPath, [site, server.url], { cwd: home })
    expect(JSON.parse(stdout)).toEqual({ status: 'ok', code: 'NOT_AUTHENTICATED' })
    expect(await stop(server)).toBe(0)
  })

  it('starts a shop in the tests of a site, with node:test and with Vitest', async () => {
    const guide = readFileSync(join(installed, 'docs', 'building-a-site.md'), 'utf8')
    const code = /```js\n(import assert from[^]*?)\n```/.exec(guide)?.[1] ?? ''
    const forVitest = code.replace("import { after, beforeEach, test } from 'node:test'", vitestImport)
    writeFileSync(join(home, 'shop.test.mjs'), code)
    writeFileSync(join(home, 'vitest.test.mjs'), forVitest)
    symlinkSync(join(process.cwd(), 'node_modules', 'vitest'), join(home, 'node_modules', 'vitest'))
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, args, { cwd: home, env: { ...environment, NO_COLOR: '1' } })).stdout
    expect(await run('--test', '--test-reporter=tap', 'shop.test.mjs')).toMatch(/^# pass 3\n# fail 0$/m)
    const vitest = join(home, 'node_modules', 'vitest', 'vitest.mjs')
    expect(await run(vitest, 'run', '--root', home, 'vitest.test.mjs')).toMatch(/Tests\s+3 passed/)
  })

  it('creates a self-signed certificate with --https', async () => {
    const server = await serve('--https')
    expect(server.url).toMatch(/^https:/)
    expect(await stop(server)).toBe(0)
  })
})

describe('the packages for sites', () => {
  sitePackageTests(packed, serve)
})

describe('the starters', () => {
  starterTests(packed)
})
