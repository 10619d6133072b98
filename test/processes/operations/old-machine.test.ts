import { once } from 'node:events'
import { readdirSync, renameSync, rmSync, truncateSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { renameProduct, slugIn } from '../../operations/backup-support.ts'
import { shopstead } from '../../support/command-line.ts'
import { exitOf, spawnShopstead } from '../../support/command-process.ts'
import { generationOf, hasLitestream, pathWithLitestream, startReplication } from '../../support/litestream.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { replicatedShop, replicaRow, run } from './replica-support.ts'

/** A shop whose machine was lost, and which was brought back on another machine that replicates to the same place. */
async function continuedShop({ end }: { end: NodeJS.Signals }) {
  const replica = join(temporaryFolder(), 'replica')
  const old = await replicatedShop(replica)
  await old.replication.end(end)
  // The clocks of the machines may differ by a few seconds.
  const earlier = new Date(Date.now() - 60_000)
  utimesSync(join(old.dataDir, '.shopstead.db-litestream', 'generation'), earlier, earlier)
  const other = join(temporaryFolder(), 'data')
  await run(other, ['restore', '--from-replica', replica, '--secret-key', old.keyFile])
  const { json } = await shopstead<{ configuration: string }>(other, ['replicate', '--to', replica, '--json'])
  const continued = await startReplication(join(other, '..'), json.configuration)
  onTestFinished(() => continued.end('SIGKILL'))
  return { old, other, replica, continued }
}

describe.skipIf(!hasLitestream)('a lost machine that comes back', () => {
  const listening = { apiRoot: expect.stringContaining('/api/v1') }
  const refused = {
    error: { code: 'CONFLICT', message: expect.stringContaining('Another machine has continued this shop') }
  }

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

  const check = async (dataDir: string, replica: string) =>
    (await run(dataDir, ['replicate', '--check'], { SHOPSTEAD_REPLICA: replica })).json

  it('neither serves nor replicates after another machine has continued, until it is restored from there', async () => {
    const { old, other, replica } = await continuedShop({ end: 'SIGKILL' })
    expect(await serve(other, replica)).toMatchObject(listening)
    expect(await check(other, replica)).toEqual({ mayReplicate: true })
    expect(await serve(old.dataDir, replica)).toMatchObject(refused)
    expect(await check(old.dataDir, replica)).toMatchObject(refused)
    old.close()
    await run(old.dataDir, ['restore', '--from-replica', replica, '--yes'])
    expect(await serve(old.dataDir, replica)).toMatchObject(listening)
    expect(await check(old.dataDir, replica)).toEqual({ mayReplicate: true })
  })

  it('serves when the replica does not answer, and replicates when it is known to be the newest', async () => {
    const { dataDir } = await replicatedShop(join(temporaryFolder(), 'replica'))
    const nowhere = 's3://shop/replica?endpoint=http://127.0.0.1:9&region=us-east-1'
    expect(await serve(dataDir, nowhere)).toMatchObject(listening)
    expect(await check(dataDir, nowhere)).toMatchObject({ error: { code: 'DEPENDENCY_UNAVAILABLE' } })
  })

  it.each([
    ['killed', 'SIGKILL', 'PASSIVE'],
    ['killed, with its log restarted', 'SIGKILL', 'RESTART'],
    ['killed, with its log truncated', 'SIGKILL', 'TRUNCATE'],
    ['stopped', 'SIGTERM', 'TRUNCATE']
  ] as const)('is not restored unasked when someone starts its Litestream by hand: %s', async (_, end, mode) => {
    const { old, other, replica } = await continuedShop({ end })
    old.rename('sold-twice')
    const sqlite = new Database(join(old.dataDir, 'shopstead.db'))
    sqlite.pragma(`wal_checkpoint(${mode})`)
    sqlite.close()
    old.rename('sold-twice-again')
    const second = await old.replicate()
    onTestFinished(() => second.end('SIGKILL'))
    const restore = ['restore', '--from-replica', replica, '--new-secret']
    // Litestream stores the times of changes to the second.
    const sellAndRestore = async () => {
      old.rename('sold-twice-again')
      renameProduct(other, 'sold-on')
      return (await run(join(temporaryFolder(), 'data'), restore)).json
    }
    const [rival, own] = [generationOf(old.dataDir), generationOf(other)].map(String)
    const message = expect.stringMatching(new RegExp(`${rival}[^]*${own}|${own}[^]*${rival}`))
    await expect
      .poll(sellAndRestore, { timeout: 60_000, interval: 1_000 })
      .toMatchObject({ error: { code: 'CONFLICT', message } })
    expect(await replicaRow(other, { SHOPSTEAD_REPLICA: replica })).toMatchObject({ status: 'failed' })
    const empty = join(temporaryFolder(), 'data')
    const chosen = [...restore, '--generation', String(own), '--yes']
    const restored = async () => ((await run(empty, chosen)).code === 0 ? slugIn(join(empty, 'shopstead.db')) : null)
    await expect.poll(restored, { timeout: 60_000, interval: 1_000 }).toBe('sold-on')
  })
})

describe.skipIf(!hasLitestream)('a restored shop whose machine is lost during its first copy', () => {
  /** The replica of that shop: what `leave` leaves of the file of the first copy, and nothing later. */
  async function interrupted(leave: (snapshot: string) => void) {
    const { old, other, replica, continued } = await continuedShop({ end: 'SIGKILL' })
    await continued.end('SIGKILL')
    const folder = join(replica, 'generations', String(generationOf(other)))
    rmSync(join(folder, 'wal'), { recursive: true })
    leave(join(folder, 'snapshots', readdirSync(join(folder, 'snapshots')).join()))
    return {
      other,
      replica,
      before: String(generationOf(old.dataDir)),
      restore: ['restore', '--from-replica', replica, '--new-secret']
    }
  }

  it('comes back from the copy of the machine before', async () => {
    const { restore, other, replica } = await interrupted((snapshot) => renameSync(snapshot, `${snapshot}.tmp`))
    const row = await replicaRow(other, { SHOPSTEAD_REPLICA: replica })
    expect(row).toMatchObject({ status: 'failed', advice: expect.stringContaining('snapshot written') })
    const empty = join(temporaryFolder(), 'data')
    expect((await run(empty, restore)).code).toBe(0)
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('lantern')
  })

  it('comes back from there when the operator asks for it, where the broken copy has the name of a whole one', async () => {
    const { restore, before } = await interrupted((snapshot) => truncateSync(snapshot, 5_000))
    const empty = join(temporaryFolder(), 'data')
    const message = expect.stringContaining(`--generation:\n${before}`)
    expect((await run(empty, restore)).json).toMatchObject({ error: { code: 'DEPENDENCY_UNAVAILABLE', message } })
    expect((await run(empty, [...restore, '--generation', before])).code).toBe(0)
    expect(slugIn(join(empty, 'shopstead.db'))).toBe('lantern')
  })
})
