import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckResult } from '../../../src/operations/diagnosis/check.ts'
import { backUp, quietShop, renameProduct, slugIn } from '../../operations/backup-support.ts'
import { shopstead } from '../../support/command-line.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../support/command-process.ts'
import { generationOf, hasLitestream, pathWithLitestream, startReplication } from '../../support/litestream.ts'
import { s3Credentials, startS3Server } from '../../support/s3-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A shop that Litestream replicates to `address`; it ends with the test. */
async function replicatedShop(address: string, env: Record<string, string> = {}) {
  const dataDir = await quietShop()
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  onTestFinished(() => void sqlite.close())
  const { json } = await shopstead<{ configuration: string }>(dataDir, ['replicate', '--to', address, '--json'])
  const replicate = () => startReplication(join(dataDir, '..'), json.configuration, env)
  const replication = await replicate()
  onTestFinished(() => replication.end('SIGKILL'))
  const rename = (slug: string): void => void sqlite.prepare('UPDATE products SET slug = ?').run(slug)
  return { dataDir, replication, replicate, rename, keyFile: join(dataDir, 'secret.key'), close: () => sqlite.close() }
}

const run = <Json = Record<string, unknown>>(dataDir: string, args: string[], env: Record<string, string> = {}) =>
  runShopstead<Json>(dataDir, [...args, '--json'], { env: { PATH: pathWithLitestream(), ...env } })

async function replicaRow(dataDir: string, env: Record<string, string>): Promise<CheckResult | undefined> {
  const { json } = await run<{ checks: CheckResult[] }>(dataDir, ['health'], env)
  return json.checks.find(({ name }) => name === 'replica')
}

describe.skipIf(!hasLitestream)('a replica in a folder', () => {
  it('brings the shop back on an empty machine, with its secret key', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, rename, keyFile } = await replicatedShop(replica)
    rename('after-the-snapshot')
    await sleep(1_000)
    await replication.end('SIGKILL')
    const key = join(temporaryFolder(), 'key')
    copyFileSync(keyFile, key)
    rmSync(dataDir, { recursive: true })

    const { code, json } = await run(dataDir, ['restore', '--from-replica', replica, '--secret-key', key])
    expect({ code, json }).toMatchObject({ code: 0, json: { restored: true, kept: null, secretRestored: true } })
    expect(slugIn(join(dataDir, 'shopstead.db'))).toBe('after-the-snapshot')
    expect(readFileSync(keyFile, 'utf8')).toBe(readFileSync(key, 'utf8'))
    const health = await run<{ checks: CheckResult[] }>(dataDir, ['health'])
    expect(health.json.checks.filter(({ name }) => ['database', 'secret'].includes(name))).toMatchObject([
      { status: 'ok' },
      { status: 'ok' }
    ])
  })

  it('replaces no database without a confirmation, and keeps the old one', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, close } = await replicatedShop(replica)
    const restore = ['restore', '--from-replica', replica]
    expect((await run(dataDir, restore)).json).toMatchObject({ error: { code: 'USAGE' } })
    expect((await run(dataDir, [...restore, '--yes'])).json).toMatchObject({ error: { code: 'CONFLICT' } })
    await replication.end('SIGTERM')
    close()
    const { json } = await run<{ kept: string }>(dataDir, [...restore, '--yes'])
    expect(existsSync(json.kept)).toBe(true)
  })

  it('restores nothing without the secret key, unless the operator says that it is lost', async () => {
    const replica = join(temporaryFolder(), 'replica')
    await replicatedShop(replica)
    const empty = join(temporaryFolder(), 'data')
    const restore = ['restore', '--from-replica', replica]
    const { json } = await run(empty, restore)
    expect(json).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining('--secret-key FILE') } })
    expect(existsSync(empty)).toBe(false)
    expect((await run(empty, [...restore, '--new-secret'])).code).toBe(0)
  })

  it('restores nothing from a folder without a copy', async () => {
    const empty = join(temporaryFolder(), 'data')
    const { json } = await run(empty, ['restore', '--from-replica', temporaryFolder(), '--new-secret'])
    expect(json).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  it('is judged by health: current, stale, missing, and without Litestream', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, rename } = await replicatedShop(replica)
    const env = { SHOPSTEAD_REPLICA: replica }
    expect(await replicaRow(dataDir, env)).toMatchObject({ status: 'ok' })
    await replication.end('SIGKILL')
    rename('not-replicated')
    const later = new Date(Date.now() + 600_000)
    utimesSync(join(dataDir, 'shopstead.db-wal'), later, later)
    expect(await replicaRow(dataDir, env)).toMatchObject({ status: 'warning' })
    expect(await replicaRow(dataDir, { SHOPSTEAD_REPLICA: temporaryFolder() })).toMatchObject({ status: 'failed' })
    expect(await replicaRow(dataDir, { ...env, PATH: '/nowhere' })).toMatchObject({
      status: 'failed',
      advice: expect.stringMatching(/Install Litestream/)
    })
  })

  it('goes on in the same generation after a kill, and begins another one after a restore of a backup', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, replicate, rename, keyFile, close } = await replicatedShop(replica)
    const { file } = await backUp(dataDir)
    rename('after-the-backup')
    const first = generationOf(dataDir)
    await replication.end('SIGKILL')
    const second = await replicate()
    expect(generationOf(dataDir)).toBe(first)
    await second.end('SIGTERM')
    close()
    expect((await run(dataDir, ['backup', 'restore', file, '--yes'])).code).toBe(0)
    renameProduct(dataDir, 'after-the-restore')
    const third = await replicate()
    onTestFinished(() => third.end('SIGKILL'))
    expect(generationOf(dataDir)).not.toBe(first)
    const empty = join(temporaryFolder(), 'data')
    await run(empty, ['restore', '--from-replica', replica, '--secret-key', keyFile])
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('after-the-restore')
  })
})

describe.skipIf(!hasLitestream)('a lost machine that comes back', () => {
  const listening = { apiRoot: expect.stringContaining('/api/v1') }

  /** Runs `serve` until it listens or ends, and returns its answer. */
  async function serve(dataDir: string, replica: string): Promise<object> {
    const env = { PATH: pathWithLitestream(), SHOPSTEAD_REPLICA: replica, SHOPSTEAD_ENV: 'development' }
    const server = spawnShopstead(dataDir, ['serve', '--port', '0', '--json'], { env })
    onTestFinished(() => void server.kill('SIGKILL'))
    const ended = exitOf(server)
    if (server.stdout === null) throw new Error('the server has no standard output')
    const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
    server.kill('SIGTERM')
    await ended
    return JSON.parse(line) as object
  }

  it('does not serve after another machine has continued the replica, until it is restored from there', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, keyFile, close } = await replicatedShop(replica)
    expect(await serve(dataDir, replica)).toMatchObject(listening)
    await replication.end('SIGKILL')
    // The clocks of the machines may differ by a few seconds.
    const earlier = new Date(Date.now() - 60_000)
    utimesSync(join(dataDir, '.shopstead.db-litestream', 'generation'), earlier, earlier)

    const other = join(temporaryFolder(), 'data')
    await run(other, ['restore', '--from-replica', replica, '--secret-key', keyFile])
    expect(await serve(other, replica)).toMatchObject(listening)
    const { json } = await shopstead<{ configuration: string }>(other, ['replicate', '--to', replica, '--json'])
    const continued = await startReplication(join(other, '..'), json.configuration)
    onTestFinished(() => continued.end('SIGKILL'))
    expect(await serve(other, replica)).toMatchObject(listening)

    expect(await serve(dataDir, replica)).toMatchObject({
      error: { code: 'CONFLICT', message: expect.stringContaining('Another machine has continued this shop') }
    })
    close()
    await run(dataDir, ['restore', '--from-replica', replica, '--yes'])
    expect(await serve(dataDir, replica)).toMatchObject(listening)
  })

  it('serves when the replica does not answer', async () => {
    const { dataDir } = await replicatedShop(join(temporaryFolder(), 'replica'))
    const nowhere = 's3://shop/replica?endpoint=http://127.0.0.1:9&region=us-east-1'
    expect(await serve(dataDir, nowhere)).toMatchObject(listening)
  })
})

describe.skipIf(!hasLitestream)('a replica at an S3-compatible server', () => {
  it('brings the shop back, and health knows its age', async () => {
    const address = await startS3Server()
    const env = s3Credentials
    const { dataDir, replication, rename, keyFile } = await replicatedShop(address, env)
    rename('in-the-bucket')
    await sleep(1_500)
    expect(await replicaRow(dataDir, { ...env, SHOPSTEAD_REPLICA: address })).toMatchObject({ status: 'ok' })
    await replication.end('SIGKILL')
    const empty = join(temporaryFolder(), 'data')
    mkdirSync(empty, { mode: 0o700 })
    writeFileSync(join(empty, 'secret.key'), readFileSync(keyFile))
    const { code } = await run(empty, ['restore', '--from-replica'], { ...env, SHOPSTEAD_REPLICA: address })
    expect(code).toBe(0)
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('in-the-bucket')
    const wrong = { ...env, SHOPSTEAD_REPLICA_ACCESS_KEY_ID: 'guess', SHOPSTEAD_REPLICA: address }
    expect(await replicaRow(dataDir, wrong)).toMatchObject({ status: 'failed' })
  })
})
