import { queueMail } from '../../src/shop/mail/queue-mail.ts'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { backUp } from '../../src/operations/backup/backups.ts'
import { runCheck } from '../../src/operations/diagnosis/check.ts'
import type { CheckResult } from '../../src/operations/diagnosis/check.ts'
import { databaseChecks } from '../../src/operations/diagnosis/database-checks.ts'
import { diagnose } from '../../src/operations/diagnosis/diagnose.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { openDatabase, write } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { emit } from '../../src/shop/outbox/emit.ts'
import { setSetting, switchModule } from '../../src/shop/settings/settings.ts'
import { addEndpoint } from '../../src/shop/webhooks/endpoints.ts'
import { runShopstead } from '../support/command-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startMailbox } from '../support/mailbox.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { startShop } from '../support/running-shop.ts'
import { draft, line, makeProduct, place } from '../shop/orders/support.ts'

type Env = Record<string, string>

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const production: Env = {
  SHOPSTEAD_ENV: 'production',
  SHOPSTEAD_PUBLIC_URL: 'https://shop.example',
  SHOPSTEAD_PAYMENTS: 'manual'
}

const configOf = (dataDir: string, env: Env = {}) =>
  parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, SHOPSTEAD_LOG: 'silent', ...env })

/** The data folder of a migrated shop without a running server, after `change`. */
function quietShop(change: (app: App) => void | Promise<void> = () => undefined): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data')
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const app = createApp(configOf(dataDir), { database: 'migrated' }, { log: silent })
  return Promise.resolve(change(app)).then(() => {
    app.close()
    return dataDir
  })
}

async function checkOf(name: string, dataDir: string, env: Env = {}): Promise<CheckResult | undefined> {
  const { checks } = await diagnose(configOf(dataDir, env), { log: silent })
  return checks.find((check) => check.name === name)
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('shopstead health', () => {
  test('reports no failure for a new shop without a running server', async () => {
    const dataDir = await quietShop()
    const { code, json } = await runShopstead<{ status: string; checks: CheckResult[] }>(dataDir, ['health', '--json'])
    expect(json.checks.filter(({ status }) => status === 'failed')).toEqual([])
    expect(code).toBe(0)
    expect(json.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'data folder',
        'disk',
        'file modes',
        'secret',
        'database',
        'durability',
        'writes',
        'migrations',
        'write-ahead log',
        'modules',
        'clock',
        'public url',
        'forwarded requests',
        'smtp',
        'stuck orders',
        'undelivered mail',
        'undelivered events',
        'backups'
      ])
    )
    for (const check of json.checks) {
      expect(check).toEqual({
        name: expect.any(String),
        status: expect.stringMatching(/^(ok|warning|failed)$/),
        message: expect.stringMatching(/./),
        advice: check.status === 'ok' ? '' : expect.stringMatching(/./)
      })
    }
  })

  test('reports a missing, empty or damaged database with advice in short lines', async () => {
    const missing = join(temporaryFolder(), 'data')
    const nothing = join(temporaryFolder(), 'data')
    mkdirSync(nothing)
    const garbage = await quietShop()
    writeFileSync(join(garbage, 'shopstead.db'), 'this is no database '.repeat(500))
    const cut = await quietShop()
    truncateSync(join(cut, 'shopstead.db'), 20_000)
    const empty = await quietShop()
    writeFileSync(join(empty, 'shopstead.db'), '')
    const cases: [string, RegExp][] = [
      [missing, /The folder .* does not exist/],
      [nothing, /The database .* does not exist/],
      [garbage, /not a database/],
      [cut, /malformed|damaged|disk image/],
      [empty, /pending/]
    ]
    for (const [dataDir, wanted] of cases) {
      const { code, stdout, stderr } = await runShopstead(dataDir, ['health'])
      expect(code).toBe(1)
      expect(stdout.replaceAll(/\n +/g, ' ')).toMatch(wanted)
      expect(stdout).toContain('FAILED')
      expect(stdout + stderr).not.toMatch(/at .*\.ts:\d+/)
      for (const text of stdout.split('\n').filter((text) => !text.includes(dataDir))) {
        expect(text.length).toBeLessThanOrEqual(80)
      }
    }
    expect(() => statSync(missing)).toThrow('ENOENT')
  })
})

describe('a check of the folder fails', () => {
  test.skipIf(process.getuid?.() !== 0)('when it is not writable', async () => {
    const dataDir = await quietShop()
    chmodSync(join(dataDir, '..'), 0o755)
    chmodSync(dataDir, 0o755)
    const { code, json } = await runShopstead<{ checks: CheckResult[] }>(dataDir, ['health', '--json'], {
      uid: 65_534
    })
    expect(code).toBe(1)
    expect(json.checks).toMatchObject(
      [{ name: 'data folder', status: 'failed', message: /is not writable/ }].map((check) => ({
        ...check,
        message: expect.stringMatching(check.message)
      }))
    )
  })

  test('when its disk is full', async (context) => {
    const disk = temporaryFolder()
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).status !== 0) context.skip()
    onTestFinished(() => void spawnSync('umount', [disk]))
    const dataDir = join(disk, 'data')
    const app = createApp(configOf(dataDir), { database: 'create' }, { log: silent })
    migrateDatabase(app.db)
    app.close()
    expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(4 * 1024 * 1024))).toThrow('ENOSPC')
    const report = await diagnose(configOf(dataDir), { log: silent })
    expect(report.status).toBe('failed')
    expect(report.checks.find(({ name }) => name === 'disk')).toMatchObject({
      status: 'failed',
      message: '0.0 MB free.'
    })
  })

  test('when other users can read the folder, the key or a backup', async () => {
    const dataDir = await quietShop(async (app) => void (await backUp(app, 'manual')))
    expect(await checkOf('file modes', dataDir)).toMatchObject({ status: 'ok' })
    chmodSync(dataDir, 0o755)
    expect(await checkOf('file modes', dataDir)).toMatchObject({
      status: 'warning',
      message: 'Other users can read: ..'
    })
    chmodSync(dataDir, 0o700)
    chmodSync(join(dataDir, 'secret.key'), 0o644)
    expect(await checkOf('file modes', dataDir)).toMatchObject({ message: 'Other users can read: secret.key.' })
    spawnSync('chmod', ['-R', 'go+r', join(dataDir, 'backups')])
    expect(await checkOf('file modes', dataDir)).toMatchObject({ message: expect.stringContaining('backups/') })
  })

  test('when the secret key is missing or too short', async () => {
    const dataDir = await quietShop()
    writeFileSync(join(dataDir, 'secret.key'), 'short')
    expect(await checkOf('secret', dataDir)).toMatchObject({ status: 'failed' })
    rmSync(join(dataDir, 'secret.key'))
    expect(await checkOf('secret', dataDir)).toMatchObject({
      status: 'failed',
      message: 'The file secret.key is missing.'
    })
    rmSync(join(dataDir, 'secret.key'))
    expect(await checkOf('secret', dataDir, { SHOPSTEAD_SECRET: 'x'.repeat(40) })).toMatchObject({ status: 'ok' })
  })
})

describe('a check of the database fails', () => {
  test('when a page of it is damaged', async () => {
    const dataDir = await quietShop((app) => {
      for (let count = 0; count < 400; count += 1)
        write(app.db, (tx) => void emit(tx, 'account.registered', { userId: count }, 0))
    })
    const file = join(dataDir, 'shopstead.db')
    const content = readFileSync(file)
    const at = content.lastIndexOf('{"userId":200}')
    content.fill(0xff, Math.floor(at / 4096) * 4096, Math.floor(at / 4096) * 4096 + 16)
    writeFileSync(file, content)
    expect(await checkOf('database', dataDir)).toMatchObject({ status: 'failed' })
  })

  test('when rows refer to rows that do not exist', async () => {
    const dataDir = await quietShop(({ db }) => {
      db.sqlite.pragma('foreign_keys = OFF')
      db.sqlite.exec('INSERT INTO coupon_products (coupon_id, product_id) VALUES (7, 8)')
    })
    expect(await checkOf('database', dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^2 rows/)
    })
  })

  test('when commits are not synced to the disk', async () => {
    const dataDir = await quietShop()
    const app = createApp(configOf(dataDir), { database: 'any' }, { log: silent })
    onTestFinished(() => app.close())
    app.db.sqlite.pragma('synchronous = NORMAL')
    const [, durability] = databaseChecks
    if (durability === undefined) throw new Error('no check')
    expect(await runCheck(app, durability)).toMatchObject({ name: 'durability', status: 'failed' })
  })

  test('when another process has locked the database, and passes after it unlocks it', async () => {
    const dataDir = await quietShop()
    const writer = openDatabase(join(dataDir, 'shopstead.db'))
    onTestFinished(() => void writer.sqlite.close())
    writer.sqlite.exec('BEGIN IMMEDIATE')
    expect(await checkOf('writes', dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Another process')
    })
    writer.sqlite.exec('COMMIT')
    expect(await checkOf('writes', dataDir)).toMatchObject({ status: 'ok' })
  })

  test('when the database rejects writes', async () => {
    const app = createApp(configOf(await quietShop()), { database: 'any' }, { log: silent })
    onTestFinished(() => app.close())
    app.db.sqlite.pragma('query_only = ON')
    const writes = databaseChecks.find(({ name }) => name === 'writes')
    if (writes === undefined) throw new Error('no check')
    expect(await runCheck(app, writes)).toMatchObject({ status: 'failed', message: expect.stringMatching(/readonly/) })
  })

  test('when a reader keeps the write-ahead log growing', async () => {
    const dataDir = await quietShop()
    const [reader, writer] = [openDatabase(join(dataDir, 'shopstead.db')), openDatabase(join(dataDir, 'shopstead.db'))]
    onTestFinished(() => [reader, writer].forEach((db) => void db.sqlite.close()))
    reader.sqlite.exec('BEGIN; SELECT count(*) FROM users')
    writer.sqlite.pragma('synchronous = OFF')
    writer.sqlite.exec('CREATE TABLE filler (content BLOB)')
    for (let count = 0; count < 28; count += 1) writer.sqlite.exec('INSERT INTO filler VALUES (zeroblob(10000000))')
    expect(await checkOf('write-ahead log', dataDir)).toMatchObject({ status: 'warning' })
  })
})

describe('a check of the network fails', () => {
  const stripe = (apiBase: string): Env => ({
    SHOPSTEAD_PAYMENTS: 'stripe',
    SHOPSTEAD_STRIPE_SECRET_KEY: 'sk_test_1',
    SHOPSTEAD_STRIPE_API_BASE: apiBase
  })

  test('when the clock differs from Stripe’s', async () => {
    const dataDir = await quietShop()
    const atStripe = (offMs: number) =>
      listen((_request, response) => {
        response.setHeader('date', new Date(Date.now() + offMs).toUTCString())
        response.writeHead(401).end('{}')
      })
    const found = async (offMs: number) => (await checkOf('clock', dataDir, stripe(await atStripe(offMs))))?.status
    expect(await found(0)).toBe('ok')
    expect(await found(-60_000)).toBe('warning')
    expect(await found(400_000)).toBe('failed')
    expect(await checkOf('clock', dataDir, stripe('http://127.0.0.1:1'))).toMatchObject({ status: 'warning' })
  })

  test('when the mail server is down, or rejects the login', async () => {
    const dataDir = await quietShop()
    const mailbox = await startMailbox({ login: { user: 'shop', password: 'right' } })
    const good = mailbox.urlFor('shop', 'right')
    const env = (url: string): Env => ({ SHOPSTEAD_SMTP_URL: url })
    expect(await checkOf('smtp', dataDir, env(good))).toMatchObject({ status: 'ok' })
    const refused = await checkOf('smtp', dataDir, env(mailbox.urlFor('shop', 'wrong')))
    expect(refused).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(refused)).not.toContain('wrong')
    await mailbox[Symbol.asyncDispose]()
    expect(await checkOf('smtp', dataDir, env(good))).toMatchObject({ status: 'failed' })
    expect(await checkOf('smtp', dataDir, production)).toMatchObject({ status: 'failed' })
  })

  /** A web server in front of the shop, which `spoil` misconfigures. */
  async function front(to: () => string, spoil: (answer: IncomingMessage) => void): Promise<string> {
    return listen((request, response: ServerResponse) => {
      const { method, headers, url } = request
      const passed = httpRequest(`${to()}${url}`, { method, headers }, (answer) => {
        spoil(answer)
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      passed.on('error', () => response.writeHead(502).end())
      request.pipe(passed)
    })
  }

  test('when the public URL does not answer, is not the shop, or loses cookies', async () => {
    let to = ''
    let spoil: (answer: IncomingMessage) => void = () => undefined
    const publicUrl = await front(
      () => to,
      (answer) => spoil(answer)
    )
    const env = { SHOPSTEAD_PUBLIC_URL: publicUrl }
    const shop = await startShop({ env })
    onTestFinished(() => shop.stop())
    to = shop.url
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({ status: 'ok' })
    spoil = (answer) => void delete answer.headers['set-cookie']
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('lacks the session cookie')
    })
    spoil = (answer) => void (answer.statusCode = 404)
    expect(await checkOf('public url', shop.dataDir, env)).toMatchObject({ status: 'failed' })
    const down = { ...env, SHOPSTEAD_PUBLIC_URL: 'http://127.0.0.1:1' }
    expect(await checkOf('public url', shop.dataDir, down)).toMatchObject({ status: 'warning' })
    const insecure = { ...production, SHOPSTEAD_PUBLIC_URL: publicUrl }
    expect(await checkOf('public url', shop.dataDir, insecure)).toMatchObject({ status: 'failed' })
  })

  test('when an untrusted proxy forwards requests', async () => {
    const shop = await startShop()
    onTestFinished(() => shop.stop())
    await shop.visitor().get('/health')
    expect(await checkOf('forwarded requests', shop.dataDir)).toMatchObject({ status: 'ok' })
    await shop.visitor({ 'x-forwarded-for': '203.0.113.9' }).get('/health')
    expect(await checkOf('forwarded requests', shop.dataDir)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('127.0.0.1')
    })
    const trusting = { SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.0/8' }
    expect(await checkOf('forwarded requests', shop.dataDir, trusting)).toMatchObject({ status: 'ok' })
  })
})

describe('a check of the background work fails', () => {
  const dayMs = 24 * 60 * 60_000

  test('when an order is pending past its hold', async () => {
    const dataDir = await quietShop(({ db }) => {
      place(db, draft([line(makeProduct(db))]), Date.now() - dayMs)
    })
    expect(await checkOf('stuck orders', dataDir)).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^Order 1 /)
    })
  })

  test('when emails or events wait for more than an hour', async () => {
    const dataDir = await quietShop(({ db }) => {
      write(db, (tx) => {
        addEndpoint(tx, { url: 'https://site.example/hook', types: null }, 0)
        emit(tx, 'account.verified', { userId: 1 }, Date.now() - dayMs)
        queueMail(
          tx,
          { template: 'password_changed', recipient: 'a@shop.example', data: { userId: 1 } },
          Date.now() - dayMs
        )
      })
    })
    expect(await checkOf('undelivered mail', dataDir)).toMatchObject({ status: 'warning' })
    expect(await checkOf('undelivered events', dataDir)).toMatchObject({ status: 'warning' })
  })

  test('when the shop has no verified backup, or only an old one', async () => {
    const dataDir = await quietShop()
    expect(await checkOf('backups', dataDir)).toMatchObject({ status: 'ok' })
    expect(await checkOf('backups', dataDir, production)).toMatchObject({ status: 'failed' })
    let file = ''
    const withBackup = (age: number, schedule = '') =>
      quietShop(async (app) => {
        setSetting(app.db, 'backup.schedule', schedule, 0)
        file = (await backUp({ ...app, clock: { now: () => Date.now() - age } }, 'manual')).file
      })
    const of = async (age: number, schedule?: string) =>
      (await checkOf('backups', await withBackup(age, schedule), production))?.status
    expect(await of(dayMs)).toBe('ok')
    expect(await of(3 * dayMs)).toBe('warning')
    expect(await of(9 * dayMs)).toBe('failed')
    expect(await of(3 * dayMs, '0 3 * * 0')).toBe('ok')
    expect(await of(dayMs / 2, '0 * * * *')).toBe('warning')
    const spoilt = await withBackup(0)
    truncateSync(file, 40_960)
    expect(await checkOf('backups', spoilt, production)).toMatchObject({ status: 'failed' })
  })

  test('when the commerce module is off', async () => {
    const dataDir = await quietShop((app) => switchModule(app.db, 'commerce', false, 0))
    expect(await checkOf('modules', dataDir)).toMatchObject({ status: 'warning' })
  })
})
