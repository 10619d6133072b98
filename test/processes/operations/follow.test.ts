import { copyFileSync, existsSync, mkdirSync, readFileSync, utimesSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isOpenToReaders } from '../../../src/follow-server.ts'
import { routes } from '../../../src/api/routes.ts'
import { mug } from '../../api/checkout-support.ts'
import { Browser } from '../../support/browser.ts'
import { shopstead } from '../../support/command-line.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../support/command-process.ts'
import { filledPath } from '../../support/filled-path.ts'
import { hasLitestream, pathWithLitestream, startReplication } from '../../support/litestream.ts'
import { startShop } from '../../support/running-shop.ts'
import { s3Credentials, startS3Server } from '../../support/s3-server.ts'
import { hasSftpServer, startSftpServer } from '../../support/sftp-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { replicatedShop } from './replica-support.ts'

/** Where the replica is: its address, and what gives access to it. */
type Replica = string | { address: string; env: Record<string, string> }

const environment = (replica: Replica) => ({
  PATH: pathWithLitestream(),
  ...(typeof replica === 'string'
    ? { SHOPSTEAD_REPLICA: replica }
    : { ...replica.env, SHOPSTEAD_REPLICA: replica.address }),
  SHOPSTEAD_FOLLOW_SECONDS: '1',
  SHOPSTEAD_ENV: 'development',
  SHOPSTEAD_PUBLIC_URL: 'http://shop.example',
  SHOPSTEAD_LOG: 'warn'
})

type Server = { child: ChildProcess; url: string; error: { code: string } | undefined; log: () => string }

/** Starts `serve` and waits until it listens or ends. It is killed after the test. */
async function serve(dataDir: string, replica: Replica, ...options: string[]): Promise<Server> {
  const args = ['serve', '--port', '0', '--json', ...options]
  const child = spawnShopstead(dataDir, args, { env: environment(replica) })
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.stdout === null || child.stderr === null) throw new Error('the server has no output')
  let log = ''
  child.stderr.on('data', (part: Buffer) => void (log += part.toString()))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, ...(JSON.parse(line) as Pick<Server, 'url' | 'error'>), log: () => log }
}

async function replicate(dataDir: string, replica: string) {
  const { json } = await shopstead<{ configuration: string }>(dataDir, ['replicate', '--to', replica, '--json'])
  const replication = await startReplication(join(dataDir, '..'), json.configuration)
  onTestFinished(() => replication.end('SIGKILL'))
  return replication
}

const run = (dataDir: string, replica: Replica, ...args: string[]) =>
  runShopstead(dataDir, [...args, '--json'], { env: environment(replica) })

/** A shop that sells and is replicated, and the data folder of a second machine. */
async function firstMachine() {
  const dataDir = join(temporaryFolder(), 'data')
  mkdirSync(dataDir)
  await startShop({ dataDir }).then((shop) => shop.stop())
  const replica = join(temporaryFolder(), 'replica')
  return { dataDir, replica, replication: await replicate(dataDir, replica), second: join(temporaryFolder(), 'data') }
}

/** Makes this machine's generation older, because the clocks of two machines may differ by a few seconds. */
function setBack(dataDir: string): void {
  const earlier = new Date(Date.now() - 60_000)
  utimesSync(join(dataDir, '.shopstead.db-litestream', 'generation'), earlier, earlier)
}

const waitingLong = { timeout: 30_000, interval: 200 }
const ready = (url: string) =>
  vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), waitingLong)

const paths = ['/store/offers', '/store/products?sort=price', '/store/products/mug', '/store/categories']
const catalog = [...paths, '/store/payment-config']

describe.skipIf(!hasLitestream)('a second machine', () => {
  it('follows the first one, becomes the shop when it is promoted, and the first one then follows it', async () => {
    const { dataDir, replica, replication, second } = await firstMachine()
    const first = await serve(dataDir, replica)
    const follower = await serve(second, replica, '--read-only')
    await ready(follower.url)
    for (const path of catalog) {
      for (const root of ['/api/v1', '/api/secure']) {
        const [here, there] = await Promise.all([first, follower].map(({ url }) => fetch(`${url}${root}${path}`)))
        expect([path, there?.status, there?.headers.get('etag')]).toEqual([path, 200, here?.headers.get('etag')])
        expect(await there?.text()).toBe(await here?.text())
      }
    }

    await shopstead(dataDir, ['offers', 'set', 'mug', '--price', '13.00'])
    const etag = (await fetch(`${first.url}/api/v1/store/products/mug`)).headers.get('etag')
    await vi.waitFor(
      async () => expect((await fetch(`${follower.url}/api/v1/store/products/mug`)).headers.get('etag')).toBe(etag),
      waitingLong
    )

    for (const route of routes.filter((each) => !isOpenToReaders(each))) {
      for (const root of ['/api/v1', '/api/secure']) {
        const { status, headers } = await fetch(`${follower.url}${root}${filledPath(route.path)}`, {
          method: route.method
        })
        expect([route.method, route.path, status, headers.get('retry-after')]).toEqual([
          route.method,
          route.path,
          503,
          '30'
        ])
      }
    }
    const page = await fetch(`${follower.url}/account`, { headers: { accept: 'text/html' } })
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('cannot take orders')])
    expect(existsSync(join(second, 'secret.key'))).toBe(false)
    expect(existsSync(join(second, 'shopstead.db'))).toBe(false)

    // Litestream waits on the second machine until there is a database.
    const waiting = replicate(second, replica)
    first.child.kill('SIGKILL')
    await replication.end('SIGKILL')
    setBack(dataDir)
    const refused = await run(second, replica, 'promote', '--yes')
    expect(refused.json).toMatchObject({ error: { message: expect.stringContaining('--secret-key FILE') } })
    const key = join(temporaryFolder(), 'key')
    copyFileSync(join(dataDir, 'secret.key'), key)
    const promoted = await run(second, replica, 'promote', '--yes', '--secret-key', key)
    expect(promoted).toMatchObject({ code: 0, json: { promoted: true, secretRestored: true } })
    expect(promoted.json).toMatchObject({ aliveSeconds: expect.any(Number) })
    const buyer = new Browser(`${follower.url}/api/v1`)
    await vi.waitFor(async () => expect((await buyer.get('/nonce')).status).toBe(200), waitingLong)
    const sold = await buyer.post('/store/checkout-session', { items: [mug] })
    expect([sold.status, sold.data]).toEqual([200, expect.objectContaining({ orderId: expect.anything() })])
    expect(existsSync(join(second, 'follow'))).toBe(false)
    expect(await run(second, replica, 'promote', '--yes')).toMatchObject({ json: { error: { code: 'CONFLICT' } } })
    await waiting

    expect((await serve(dataDir, replica)).error).toMatchObject({ code: 'CONFLICT' })
    const before = readFileSync(join(dataDir, 'shopstead.db'))
    const returned = await serve(dataDir, replica, '--read-only')
    await ready(returned.url)
    expect((await fetch(`${returned.url}/api/v1/nonce`)).status).toBe(503)
    expect((await fetch(`${returned.url}/api/v1/store/products/mug`)).status).toBe(200)
    expect(readFileSync(join(dataDir, 'shopstead.db'))).toEqual(before)

    follower.child.kill('SIGTERM')
    await exitOf(follower.child)
    const again = await serve(second, replica, '--read-only')
    expect((await fetch(`${again.url}/api/v1/nonce`)).status).toBe(200)
  }, 120_000)
})

/** Servers that can have the replica. */
const servers = [
  {
    name: 'an S3-compatible server',
    isHere: true,
    start: async () => ({ address: await startS3Server(), env: s3Credentials })
  },
  {
    name: 'an SFTP server',
    isHere: hasSftpServer,
    async start() {
      const { address, keyFile } = await startSftpServer()
      return { address, env: { SHOPSTEAD_REPLICA_KEY_FILE: keyFile } }
    }
  }
]

describe.skipIf(!hasLitestream)('a second machine with a replica elsewhere', () => {
  for (const { name, isHere, start } of servers)
    it.skipIf(!isHere)(
      `follows ${name}, and becomes the shop when it is promoted`,
      async () => {
        const replica = await start()
        const first = await replicatedShop(replica.address, replica.env)
        const second = join(temporaryFolder(), 'data')
        const follower = await serve(second, replica, '--read-only')
        await ready(follower.url)
        await first.replication.copy(() => first.rename('new-name'))
        const product = () => fetch(`${follower.url}/api/v1/store/products/new-name`)
        await vi.waitFor(async () => expect((await product()).status).toBe(200), waitingLong)
        await first.replication.end('SIGKILL')
        first.close()
        const promoted = await run(second, replica, 'promote', '--yes', '--secret-key', first.keyFile)
        expect(promoted).toMatchObject({ code: 0, json: { promoted: true, secretRestored: true } })
        const nonce = () => fetch(`${follower.url}/api/v1/nonce`)
        await vi.waitFor(async () => expect((await nonce()).status).toBe(200), waitingLong)
        expect((await product()).status).toBe(200)
      },
      120_000
    )
})
