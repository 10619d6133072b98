import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-package-'))
const home = join(folder, 'home')
const installed = join(home, 'node_modules', 'shopstead')
const packed: { name?: string; files: string[] } = { files: [] }

/** Its package is built, packed and installed into an empty folder, as npm would bring it to somebody. */
beforeAll(() => {
  mkdirSync(home)
  const answer = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], process.cwd())) as PackAnswer
  const [tarball] = answer
  packed.files = tarball.files.map(({ path }) => path)
  npm(['install', join(folder, tarball.filename), '--no-audit', '--no-fund', '--prefer-offline'], home)
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type PackAnswer = [{ filename: string; files: { path: string }[] }]

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
}

const environment = { PATH: process.env.PATH, HOME: folder, SHOPSTEAD_LOG: 'warn' }
const program = join(installed, 'bin', 'shopstead.js')

/** Runs the installed command in the empty folder; what it keeps lands in `data` there. */
function shopstead(...args: string[]): unknown {
  const options = { cwd: home, env: environment, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, [program, ...args, '--json'], options))
}

type Server = { process: ChildProcessByStdio<null, Readable, null>; apiRoot: string; url: string }

const started: Server['process'][] = []
afterAll(() => started.forEach((child) => child.kill('SIGKILL')))

async function serve(): Promise<Server> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    cwd: home,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore']
  })
  started.push(child)
  for await (const line of createInterface({ input: child.stdout })) return { process: child, ...JSON.parse(line) }
  throw new Error('the server ended before it listened')
}

/** The exit code with which it ends when it is told to. */
async function stop({ process: child }: Server): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

describe('the package', () => {
  it('carries the bundle with what it reads, the seeds and the notices, and no source or test', () => {
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'package.json',
        'bin/shopstead.js',
        'dist/main.js',
        'dist/build-id',
        'dist/THIRD-PARTY-NOTICES.txt',
        'dist/platform/db/migrations/0000_tables.sql',
        'dist/platform/db/migrations/meta/_journal.json',
        'seeds/demo/catalogue.json'
      ])
    )
    const foreign = packed.files.filter(
      (file) => !/^(bin|dist|seeds)\/|^(package\.json|README\.md|LICENSE)$/.test(file)
    )
    expect(foreign).toEqual([])
    expect(packed.files.filter((file) => file.endsWith('.ts'))).toEqual([])
    const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    expect(notices).toContain('drizzle-orm')
    expect(notices).toContain('Apache License')
  })

  it('bundles our code and drizzle-orm, and nothing else', () => {
    const maps = packed.files.filter((file) => file.endsWith('.js.map'))
    const sources = maps.flatMap((file) => {
      const map = JSON.parse(readFileSync(join(installed, file), 'utf8')) as { sources: string[] }
      return map.sources
    })
    expect(sources.length).toBeGreaterThan(200)
    expect(sources.filter((source) => !/(^|\/)(src|node_modules\/drizzle-orm)\//.test(source))).toEqual([])
  })

  it('sells something to a guest, from an empty folder', async () => {
    expect(shopstead('migrate')).toMatchObject({ pending: [] })
    expect(shopstead('seed', '--demo')).toMatchObject({ created: { orders: 95 } })
    expect(existsSync(join(home, 'data', 'shopstead.db'))).toBe(true)
    expect(shopstead('health')).toMatchObject({ checks: expect.any(Array) })
    const server = await serve()
    const visitor = new Browser(server.apiRoot)
    expect((await visitor.get('/health')).data).toMatchObject({ status: 'ok', buildFlavor: 'dist' })
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    const productId = data.offers[0]?.productId
    const body = { items: [{ productId, quantity: 1 }], returnUrl: 'https://shop.example/thanks' }
    const session = await visitor.post<{ checkoutUrl: string; orderId: string }>('/store/checkout-session', body)
    expect(session.status).toBe(200)
    const { checkoutUrl, orderId } = session.data
    const paid = await visitor.form(checkoutUrl, { payment_method: 'pm_card_visa', email: 'guest@example.com' })
    expect(paid.status).toBe(303)
    expect(paid.headers.get('location')).toContain('result=success')
    expect(shopstead('orders', 'show', orderId)).toMatchObject({ order: { status: 'processing' } })
    expect(await stop(server)).toBe(0)
  })
})
