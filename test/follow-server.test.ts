import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isOpenToReaders, startFollowingServer } from '../src/follow-server.ts'
import { routes } from '../src/api/routes.ts'
import { openCopy, isNewest } from '../src/operations/replica/follow.ts'
import { diagnose } from '../src/operations/diagnosis/diagnose.ts'
import { endFollowing, followFolder, isFollower, markPromoted } from '../src/operations/replica/role.ts'
import { parseConfig } from '../src/platform/config/config.ts'
import { write } from '../src/platform/db/database.ts'
import { isStorageError } from '../src/platform/db/storage-errors.ts'
import { openDoor } from '../src/platform/http/listen.ts'
import { setSetting } from '../src/shop/settings/settings.ts'
import { shopstead } from './support/command-line.ts'
import { filledPath } from './support/filled-path.ts'
import { startShop } from './support/running-shop.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const publicUrl = 'https://shop.example'
const picture = `/media/${'a'.repeat(32)}-400.webp`

/** A data folder with one copy, as a server that follows left it. Litestream is not installed. */
async function followingFolder() {
  const source = temporaryFolder()
  const shop = await startShop({ dataDir: source, env: { SHOPSTEAD_PUBLIC_URL: publicUrl } })
  const etagOf = async (path: string) => (await fetch(`${shop.url}${path}`)).headers.get('etag')
  const etags = await Promise.all(catalog.map(etagOf))
  await shop.stop()
  const dataDir = temporaryFolder()
  const folder = join(followFolder(dataDir), 'copy-1')
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(source, 'shopstead.db'), join(folder, 'shopstead.db'))
  const facts = { generation: '0123456789abcdef', updatedAt: 1_000_000, readAt: 1_100_000, restoreMs: 5 }
  writeFileSync(join(folder, 'copy.json'), JSON.stringify(facts))
  mkdirSync(join(dataDir, 'media'))
  writeFileSync(join(dataDir, picture), '0123456789')
  return { dataDir, etags, copy: { ...facts, folder }, source }
}

const configFor = (dataDir: string) =>
  parseConfig({
    SHOPSTEAD_ENV: 'test',
    SHOPSTEAD_DATA_DIR: dataDir,
    SHOPSTEAD_PUBLIC_URL: publicUrl,
    SHOPSTEAD_REPLICA: '/nowhere/replica'
  })

/** Starts a server that follows; it ends with the test. */
async function startFollower(dataDir: string) {
  const config = configFor(dataDir)
  if (config.replica === null) throw new Error('no replica')
  const door = await openDoor({ host: '127.0.0.1', port: 0, log: silent })
  const warnings: unknown[] = []
  const log = { ...silent, warn: (message: string, fields?: object) => void warnings.push([message, fields]) }
  const server = await startFollowingServer({ config, replica: config.replica, door, log })
  onTestFinished(async () => {
    await server.stop()
    await door.close({ graceMs: 0 })
    await server.close()
  })
  const get = (path: string, init: RequestInit = {}) => fetch(`${door.url}${path}`, { ...init, redirect: 'manual' })
  return { get, warnings }
}

const catalog = ['offers', 'products', 'products/mug', 'categories', 'payment-config'].map(
  (path) => `/api/v1/store/${path}`
)

describe('a server that follows a replica', () => {
  it('serves its last copy while the replica cannot be read, with the ETags of the first machine', async () => {
    const { dataDir, etags } = await followingFolder()
    const { get, warnings } = await startFollower(dataDir)
    const responses = await Promise.all(catalog.map((path) => get(path)))
    expect(responses.map(({ status }) => status)).toEqual(catalog.map(() => 200))
    expect(responses.map(({ headers }) => headers.get('etag'))).toEqual(etags)
    const headers = { 'if-none-match': etags[0] ?? '' }
    expect((await get('/api/v1/store/offers', { headers })).status).toBe(304)
    expect(await (await get('/readyz')).text()).toMatch(/^ready\nread-only: the copy has the changes until 1970/)
    await expect.poll(() => warnings).toEqual([['the replica cannot be followed', { reason: expect.any(String) }]])
  })

  it('answers the catalog, pictures and the status, and refuses every other route with 503', async () => {
    const { dataDir } = await followingFolder()
    const { get } = await startFollower(dataDir)
    const wrong: string[] = []
    for (const route of routes) {
      for (const root of ['/api/v1', '/api/secure']) {
        const path = filledPath(route.path)
        const response = await get(`${root}${path}`, { method: route.method })
        const isRefused = response.status === 503 && response.headers.get('retry-after') === '30'
        if (isRefused === isOpenToReaders(route)) wrong.push(`${route.method} ${root}${path}: ${response.status}`)
      }
    }
    expect(wrong).toEqual([])
    const open = ['/health', '/store/offers'].flatMap((path) => [`/api/v1${path}`, `/api/secure${path}`])
    for (const path of [...open, '/livez', '/readyz', '/openapi.json', '/docs', picture]) {
      expect([path, (await get(path)).status]).toEqual([path, 200])
      expect([path, (await get(path, { method: 'HEAD' })).status]).toEqual([path, 200])
      expect([path, (await get(path, { method: 'POST' })).status]).toEqual([path, 503])
    }
    for (const path of ['/', '/account', '/downloads/x', '/sandbox/x', '/api/v1/nothing', '//health'])
      expect([path, (await get(path)).status]).toEqual([path, 503])
    expect((await get('/media/none.webp')).status).toBe(404)
  })

  it('tells a browser in a page, and a program in the envelope, that only products can be read', async () => {
    const { dataDir } = await followingFolder()
    const { get } = await startFollower(dataDir)
    const page = await get('/account', { headers: { accept: 'text/html' } })
    const html = await page.text()
    expect([page.status, page.headers.get('retry-after'), page.headers.get('cache-control')]).toEqual([
      503,
      '30',
      'no-store'
    ])
    expect(html).toContain('The shop cannot take orders at the moment')
    const [style = ''] = /\/assets\/[^"]+\.css/.exec(html) ?? []
    expect((await get(style)).status).toBe(200)
    expect(await (await get('/api/v1/me')).json()).toMatchObject({ error: { code: 'DEPENDENCY_UNAVAILABLE' } })
  })

  it('waits for its first copy, and creates nothing but its own folder and lock', async () => {
    const dataDir = temporaryFolder()
    const { get } = await startFollower(dataDir)
    expect((await get('/livez')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(503)
    expect(await (await get('/api/v1/store/offers')).json()).toMatchObject({
      error: { code: 'DEPENDENCY_UNAVAILABLE', message: expect.stringContaining('not available') }
    })
    expect(['secret.key', 'shopstead.db'].filter((name) => existsSync(join(dataDir, name)))).toEqual([])
  })

  it('leaves an old database and its secret as they are', async () => {
    const { dataDir, source } = await followingFolder()
    copyFileSync(join(source, 'shopstead.db'), join(dataDir, 'shopstead.db'))
    const { get } = await startFollower(dataDir)
    expect((await get('/api/v1/store/offers')).status).toBe(200)
    expect(readFileSync(join(dataDir, 'shopstead.db'))).toEqual(readFileSync(join(source, 'shopstead.db')))
  })
})

describe('a copy', () => {
  it('refuses a write as a storage error, which is a 503', async () => {
    const { dataDir, copy } = await followingFolder()
    const app = openCopy(configFor(dataDir), copy, silent)
    onTestFinished(() => app.close())
    let refusal: unknown
    try {
      write(app.db, (tx) => setSetting(tx, 'shop.name', 'Other', 0))
    } catch (error) {
      refusal = error
    }
    expect(isStorageError(refusal)).toBe(true)
  })

  it('is not served when the first machine has a newer or an older version', async () => {
    const { dataDir, copy } = await followingFolder()
    const config = configFor(dataDir)
    const sqlite = new Database(join(copy.folder, 'shopstead.db'))
    const applied = sqlite.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get()
    sqlite.prepare('DELETE FROM __drizzle_migrations WHERE created_at = ?').run(applied)
    expect(() => openCopy(config, copy, silent)).toThrow('older version')
    const insert = sqlite.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', ?)")
    for (const time of [applied, 9e15]) insert.run(time)
    sqlite.close()
    expect(() => openCopy(config, copy, silent)).toThrow('newer version')
    const { get } = await startFollower(dataDir)
    expect((await get('/readyz')).status).toBe(503)
  })

  it('is fetched again for a change that may have followed in its last second', () => {
    const generation = { id: 'a', startedAt: 0, updatedAt: 100_000 }
    const copy = { generation: 'a', updatedAt: 100_000, readAt: 100_400, restoreMs: 5 }
    expect(isNewest(undefined, generation)).toBe(false)
    expect(isNewest(copy, generation)).toBe(false)
    const later = { ...copy, readAt: 190_000 }
    expect(isNewest(later, generation)).toBe(true)
    expect(isNewest(later, { ...generation, updatedAt: 101_000 })).toBe(false)
    expect(isNewest(later, { ...generation, id: 'b' })).toBe(false)
  })
})

describe('the commands of a machine that follows', () => {
  it('say what it is: health has its own checks, and others name promote', async () => {
    const { dataDir } = await followingFolder()
    const { checks } = await diagnose(configFor(dataDir), { log: silent })
    expect(checks.map(({ name }) => name)).toEqual([
      'data folder',
      'disk',
      'file modes',
      'file owners',
      'role',
      'copy',
      'secret'
    ])
    expect(checks.find(({ name }) => name === 'copy')).toMatchObject({ status: 'failed' })
    for (const args of [['orders', 'list'], ['migrate'], ['serve']])
      expect((await shopstead(dataDir, [...args, '--json'])).json).toMatchObject({
        error: { code: 'CONFLICT', message: expect.stringContaining('"shopstead promote"') }
      })
  })

  it('need a replica', async () => {
    for (const args of [['serve', '--read-only'], ['promote']])
      expect(await shopstead(temporaryFolder(), [...args, '--json'])).toMatchObject({
        code: 2,
        json: { error: { message: expect.stringContaining('SHOPSTEAD_REPLICA') } }
      })
  })

  it('take it for the shop once it is promoted', () => {
    const dataDir = temporaryFolder()
    mkdirSync(followFolder(dataDir))
    expect(isFollower(dataDir)).toBe(true)
    markPromoted(dataDir, 0)
    expect(isFollower(dataDir)).toBe(false)
    endFollowing(dataDir)
    expect(existsSync(followFolder(dataDir))).toBe(false)
  })
})
