import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openGateway, stripeEnv } from '../faults/shop-and-gateway.ts'
import type { Gateway } from '../faults/shop-and-gateway.ts'
import type { Random } from './random.ts'
import { openShop } from './open-shop.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import type { Trial, Part } from './part.ts'
import { makeHistory } from './torn-log/history.ts'
import type { Acknowledged } from './torn-log/history.ts'
import { violatedInvariants, lanternStock } from './torn-log/invariants.ts'
import { readLog } from './torn-log/log-file.ts'
import type { LogFile } from './torn-log/log-file.ts'

const products = [
  { slug: 'mug', name: 'Mug', price: '12.50' },
  { slug: 'lantern', name: 'Lantern', price: '30.00', stock: lanternStock }
]

export const tornLog: Part = {
  name: 'torn-log',
  about: 'the write-ahead log of a killed shop truncated and corrupted: only complete transactions, in order',
  async run(trial) {
    const folder = mkdtempSync(join(trial.packed.folder, 'torn-log-'))
    let url = ''
    const gateway = await openGateway(() => url)
    const env = stripeEnv(gateway.origin)
    try {
      const running = join(folder, 'running')
      await openShop(trial.packed, running, products)
      const server = await servePacked(trial.packed, { dataDir: running, env })
      url = server.url
      const killed = await killDuringWrites(trial, { server, gateway, running, killed: join(folder, 'killed') })
      await damageLogs(trial, killed, join(folder, 'torn'), env)
    } finally {
      await gateway.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

type KilledShop = { dataDir: string; log: LogFile; acknowledged: Acknowledged[] }

/**
 * Kills a shop whose log contains many transactions that are not in the database file, followed by the rest of an earlier
 * round, and copies its folder. An open reader prevents a checkpoint until then.
 */
async function killDuringWrites(
  trial: Trial,
  place: { server: PackedServer; gateway: Gateway; running: string; killed: string }
): Promise<KilledShop> {
  const { server, running } = place
  const file = join(running, 'shopstead.db')
  const scene = { apiRoot: server.apiRoot, log: `${file}-wal`, sandbox: place.gateway.sandbox }
  await makeHistory(scene, trial.random, 40)
  const reader = new Database(file)
  try {
    await restartLog(reader, file)
    const acknowledged = await makeHistory(scene, trial.random, 12)
    // The last request is not awaited, so that the kill interrupts it.
    const last = makeHistory(scene, trial.random, 1).catch(() => [])
    await sleep(trial.random.between(5, 60))
    await server.end('SIGKILL')
    await last
    cpSync(running, place.killed, { recursive: true, filter: (path) => basename(path) !== 'mail' })
    const log = readLog(join(place.killed, 'shopstead.db-wal'))
    trial.figure(
      `the log: ${log.commits.length} transactions in ${log.commits.at(-1) ?? 0} bytes, ${log.bytes.length} bytes in total`
    )
    return { dataDir: place.killed, log, acknowledged }
  } finally {
    reader.close()
  }
}

/** Checkpoints the complete log, so that the next write starts a new round, and opens a reader that prevents another one. */
async function restartLog(reader: Database.Database, file: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const before = readLog(`${file}-wal`).round
    const [{ busy }] = reader.pragma('wal_checkpoint(RESTART)') as [{ busy: number }]
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM orders').get()
    // No other process wrote between the two statements.
    if (busy === 0 && readLog(`${file}-wal`).round === before) return
    reader.exec('ROLLBACK')
    await sleep(100)
  }
  throw new Error('the log could not be checkpointed')
}

/** The damage to a log: it is truncated at `from`, or bytes at `from` are changed. */
type Damage = { kind: 'cut' | 'one bit' | 'a sector'; from: number }

const sectorBytes = 512

async function damageLogs(trial: Trial, killed: KilledShop, torn: string, env: Record<string, string>): Promise<void> {
  const times = trial.isFull ? 1_000 : 100
  for (let time = 1; time <= times; time += 1) {
    const damage = chooseDamage(trial.random, killed.log)
    trial.count(damage.kind)
    writeDamaged(killed, damage, torn, trial.random)
    for (const text of verify(killed, damage, torn)) trial.violation(`${damage.kind} at ${damage.from}: ${text}`)
    if (time % (trial.isFull ? 20 : 50) === 0) {
      writeDamaged(killed, damage, torn, trial.random)
      await startOn(trial, torn, env)
    }
    if (time % 100 === 0) trial.progress(`${time} of ${times}`)
  }
}

function chooseDamage(random: Random, { bytes, commits }: LogFile): Damage {
  const kind = random.pick(['cut', 'one bit', 'a sector'] as const)
  // Rarely after the last transaction, where no acknowledged data is.
  const end = random.oneIn(20) ? bytes.length : (commits.at(-1) ?? 0)
  const at = random.between(0, end - 1)
  return { kind, from: kind === 'a sector' ? at - (at % sectorBytes) : at }
}

/** Copies the killed shop's folder with a damaged log, with or without its index (`-shm`), which a power cut removes. */
function writeDamaged({ dataDir, log }: KilledShop, damage: Damage, torn: string, random: Random): void {
  rmSync(torn, { recursive: true, force: true })
  cpSync(dataDir, torn, { recursive: true, filter: (file) => !file.endsWith('.db-wal') })
  if (random.oneIn(2)) rmSync(join(torn, 'shopstead.db-shm'), { force: true })
  writeFileSync(join(torn, 'shopstead.db-wal'), damaged(log.bytes, damage, random))
}

function damaged(bytes: Buffer, { kind, from }: Damage, random: Random): Buffer {
  if (kind === 'cut') return bytes.subarray(0, from)
  const copy = Buffer.from(bytes)
  if (kind === 'one bit') copy.writeUInt8(copy.readUInt8(from) ^ (1 << random.between(0, 7)), from)
  else random.bytes(Math.min(sectorBytes, copy.length - from)).copy(copy, from)
  return copy
}

/** Verifies that SQLite recovers exactly the state after the last transaction before the damage. */
function verify({ log, acknowledged }: KilledShop, { from }: Damage, torn: string): string[] {
  const expected = log.commits.findLast((end) => end <= from) ?? 0
  const database = new Database(join(torn, 'shopstead.db'))
  try {
    const verdict = database.pragma('integrity_check', { simple: true })
    const orphans = database.pragma('foreign_key_check') as unknown[]
    const [{ log: frames }] = database.pragma('wal_checkpoint(PASSIVE)') as [{ log: number }]
    return [
      ...(verdict === 'ok' ? [] : [`integrity_check: ${String(verdict)}`]),
      ...(orphans.length === 0 ? [] : [`foreign_key_check: ${JSON.stringify(orphans.slice(0, 3))}`]),
      ...(frames === log.framesAt(expected)
        ? []
        : [`${frames} frames were recovered, ${log.framesAt(expected)} were expected`]),
      ...violatedInvariants(database),
      ...acknowledged.filter(({ logBytes }) => logBytes <= from).flatMap((item) => lost(database, item))
    ]
  } finally {
    database.close()
  }
}

/** Verifies that an item acknowledged before the damage exists. */
function lost(database: Database.Database, item: Acknowledged): string[] {
  const found =
    item.what === 'account'
      ? database.prepare('SELECT 1 FROM users WHERE email = ?').get(item.email)
      : database
          .prepare(`SELECT 1 FROM orders WHERE id = ? AND (status = 'processing' OR ?)`)
          .get(item.id, item.what === 'order' ? 1 : 0)
  return found === undefined ? [`lost: ${JSON.stringify(item)}`] : []
}

/** Verifies that `shopstead health` and `shopstead serve` work on the damaged folder. */
async function startOn(trial: Trial, dataDir: string, env: Record<string, string>): Promise<void> {
  const health = await runPacked(trial.packed, { dataDir, env }, 'health', '--deep', '--json')
  const { checks } = JSON.parse(health.stdout) as { checks: { name: string; status: string; message: string }[] }
  const check = checks.find(({ name }) => name === 'database')
  trial.count('runs of shopstead health')
  if (check?.status !== 'ok') trial.violation(`shopstead health reports for the database: ${JSON.stringify(check)}`)
  const server = await servePacked(trial.packed, { dataDir, env })
  const answer = await fetch(`${server.apiRoot}/health`)
  trial.count('starts of shopstead serve')
  if (answer.status !== 200) trial.violation(`/health returns ${answer.status}: ${await answer.text()}`)
  const outcome = await server.end()
  if (outcome !== 0) trial.violation(`the server ended with ${String(outcome)}`)
}
