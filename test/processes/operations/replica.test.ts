import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckResult } from '../../../src/operations/diagnosis/check.ts'
import { backUp, renameProduct, slugIn } from '../../operations/backup-support.ts'
import { runShopstead } from '../../support/command-process.ts'
import { generationOf, hasLitestream, startReplication } from '../../support/litestream.ts'
import { s3Credentials, startS3Server } from '../../support/s3-server.ts'
import { hasSftpServer, startSftpServer } from '../../support/sftp-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { replicatedShop, replicaRow, run } from './replica-support.ts'

describe.skipIf(!hasLitestream)('a replica in a folder', () => {
  it('brings the shop back on an empty machine, with its secret key', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, rename, keyFile } = await replicatedShop(replica)
    await replication.copy(() => rename('after-the-snapshot'))
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

  it('begins a new series of invoices, because the lost machine may have used the next numbers', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication } = await replicatedShop(replica)
    await replication.copy(() => run(dataDir, ['settings', 'set', 'invoice.prefix', 'TL-']))
    const other = join(temporaryFolder(), 'data')
    const restore = ['restore', '--from-replica', replica, '--new-secret']
    const invoicePrefix = expect.stringMatching(/^TL-R\d{10}-$/)
    expect((await run(other, restore)).json).toMatchObject({ invoicePrefix })
    expect((await run(other, ['settings', 'get', 'invoice.prefix'])).json).toMatchObject({ value: invoicePrefix })
    const continued = await startReplication(
      join(other, '..'),
      (await run<{ configuration: string }>(other, ['replicate', '--to', replica])).json.configuration
    )
    await continued.end('SIGTERM')
    const third = join(temporaryFolder(), 'data')
    expect((await run(third, restore)).json).toMatchObject({ invoicePrefix })
  })

  it('keeps an erased person for a day, and users erase says so and how to empty the log', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const env = { SHOPSTEAD_REPLICA: replica }
    const { dataDir, replication, replicate, close } = await replicatedShop(replica)
    const email = 'lena.hartwig@example.com'
    const create = ['users', 'create', '--email', email, '--display-name', 'Lena', '--password-stdin']
    await replication.copy(() => runShopstead(dataDir, create, { env, input: 'tidal-basalt-93\n' }))
    const { json } = await run(dataDir, ['users', 'erase', email, '--yes'], env)
    expect(json).toMatchObject({ status: 'erased', tracesRemoved: false, replica })
    const again = await runShopstead(dataDir, ['users', 'erase', '1', '--yes'], { env })
    expect(again.stdout).toContain('systemctl stop shopstead-replica')
    expect(again.stdout).toContain(`The replica ${replica} contains the person`)
    await replication.end('SIGTERM')
    const last = await run(dataDir, ['users', 'erase', '1', '--yes'], env)
    expect(last.json).toMatchObject({ tracesRemoved: true })
    close()
    const next = await replicate()
    await next.end('SIGTERM')
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const traces = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(email))
    expect(traces.map(({ name }) => name)).toEqual([])
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

describe.skipIf(!hasLitestream)('a replica at an S3-compatible server', () => {
  it('brings the shop back, and health knows its age', async () => {
    const address = await startS3Server()
    const env = s3Credentials
    const { dataDir, replication, rename, keyFile } = await replicatedShop(address, env)
    await replication.copy(() => rename('in-the-bucket'))
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

// It needs OpenSSH's server (Debian: openssh-server), which .ci/run installs.
describe.skipIf(!hasLitestream || !hasSftpServer)('a replica at an SFTP server', () => {
  it('brings the shop back, and health knows its age', async () => {
    const { address, keyFile } = await startSftpServer()
    const env = { SHOPSTEAD_REPLICA_KEY_FILE: keyFile }
    const shop = await replicatedShop(address, env)
    await shop.replication.copy(() => shop.rename('at-the-sftp-server'))
    const known = { ...env, SHOPSTEAD_REPLICA: address }
    expect(await replicaRow(shop.dataDir, known)).toMatchObject({ status: 'ok' })
    await shop.replication.end('SIGKILL')
    const empty = join(temporaryFolder(), 'data')
    const restore = ['restore', '--from-replica', '--secret-key', shop.keyFile]
    expect((await run(empty, restore, known)).json).toMatchObject({ restored: true })
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('at-the-sftp-server')
    const { keyFile: wrong } = await startSftpServer()
    const refused = { SHOPSTEAD_REPLICA: address, SHOPSTEAD_REPLICA_KEY_FILE: wrong }
    expect(await replicaRow(shop.dataDir, refused)).toMatchObject({ status: 'failed' })
  })
})
