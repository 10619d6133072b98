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
import { brokenLaws, lanterns } from './torn-log/laws.ts'
import { readLog } from './torn-log/log-file.ts'
import type { LogFile } from './torn-log/log-file.ts'

const goods = [
  { slug: 'mug', name: 'Mug', price: '12.50' },
  { slug: 'lantern', name: 'Lantern', price: '30.00', stock: lanterns }
]

export const tornLog: Part = {
  name: 'torn-log',
  about: 'the write-ahead log of a killed shop cut and flipped: whole transactions, a prefix of history',
  async run(trial) {
    const folder = mkdtempSync(join(trial.packed.folder, 'torn-log-'))
    let url = ''
    const gateway = await openGateway(() => url)
    const env = stripeEnv(gateway.origin)
    try {
      const running = join(folder, 'running')
      await openShop(trial.packed, running, goods)
      const server = await servePacked(trial.packed, { dataDir: running, env })
      url = server.url
      const killed = await killInTheMidst(trial, { server, gateway, running, killed: join(folder, 'killed') })
      await tear(trial, killed, join(folder, 'torn'), env)
    } finally {
      await gateway.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

type Killed = { dataDir: string; log: LogFile; acknowledged: Acknowledged[] }

/**
 * Kills a shop whose log holds many transactions that are not in the database yet, with the rest of an earlier round
 * behind them, and copies what it left. A reader that does not end keeps the log from being folded in meanwhile.
 */
async function killInTheMidst(
  trial: Trial,
  place: { server: PackedServer; gateway: Gateway; running: string; killed: string }
): Promise<Killed> {
  const { server, running } = place
  const file = join(running, 'shopstead.db')
  const scene = { apiRoot: server.apiRoot, log: `${file}-wal`, sandbox: place.gateway.sandbox }
  await makeHistory(scene, trial.random, 40)
  const reader = new Database(file)
  try {
    await startLogAnew(reader, file)
    const acknowledged = await makeHistory(scene, trial.random, 12)
    // A last one that nobody waits for, so that it is struck in the midst.
    const last = makeHistory(scene, trial.random, 1).catch(() => [])
    await sleep(trial.random.between(5, 60))
    await server.end('SIGKILL')
    await last
    cpSync(running, place.killed, { recursive: true, filter: (path) => basename(path) !== 'mail' })
    const log = readLog(join(place.killed, 'shopstead.db-wal'))
    trial.figure(
      `the log: ${log.commits.length} transactions in ${log.commits.at(-1) ?? 0} bytes, ${log.bytes.length} in all`
    )
    return { dataDir: place.killed, log, acknowledged }
  } finally {
    reader.close()
  }
}

/** Folds the whole log in, so that the next write begins it anew, and keeps it from being folded in again. */
async function startLogAnew(reader: Database.Database, file: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const before = readLog(`${file}-wal`).round
    const [{ busy }] = reader.pragma('wal_checkpoint(RESTART)') as [{ busy: number }]
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM orders').get()
    // Nobody has written between the two.
    if (busy === 0 && readLog(`${file}-wal`).round === before) return
    reader.exec('ROLLBACK')
    await sleep(100)
  }
  throw new Error('the log could not be folded in')
}

/** What was done to a log: everything from `from` on is cut off, or some bytes there are others. */
type Damage = { kind: 'cut' | 'one bit' | 'a sector'; from: number }

const sectorBytes = 512

async function tear(trial: Trial, killed: Killed, torn: string, env: Record<string, string>): Promise<void> {
  const times = trial.isFull ? 1_000 : 100
  for (let time = 1; time <= times; time += 1) {
    const damage = chooseDamage(trial.random, killed.log)
    trial.count(damage.kind)
    lay(killed, damage, torn, trial.random)
    for (const text of judge(killed, damage, torn)) trial.violation(`${damage.kind} at ${damage.from}: ${text}`)
    if (time % (trial.isFull ? 20 : 25) === 0) {
      lay(killed, damage, torn, trial.random)
      await startOn(trial, torn, env)
    }
    if (time % 100 === 0) trial.progress(`${time} of ${times}`)
  }
}

function chooseDamage(random: Random, { bytes, commits }: LogFile): Damage {
  const kind = random.pick(['cut', 'one bit', 'a sector'] as const)
  // Seldom behind the last transaction, where nothing is that anybody was told of.
  const end = random.oneIn(20) ? bytes.length : (commits.at(-1) ?? 0)
  const at = random.between(0, end - 1)
  return { kind, from: kind === 'a sector' ? at - (at % sectorBytes) : at }
}

/** The folder of the killed shop with its log damaged; the index of the log is there or, as after a power cut, not. */
function lay({ dataDir, log }: Killed, damage: Damage, torn: string, random: Random): void {
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

/** What SQLite makes of it has to be the state after the last transaction before the damage, and nothing else. */
function judge({ log, acknowledged }: Killed, { from }: Damage, torn: string): string[] {
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
        : [`${frames} frames were taken, ${log.framesAt(expected)} were expected`]),
      ...brokenLaws(database),
      ...acknowledged.filter(({ logBytes }) => logBytes <= from).flatMap((told) => lost(database, told))
    ]
  } finally {
    database.close()
  }
}

/** Acknowledged before the damage, so it has to be there. */
function lost(database: Database.Database, told: Acknowledged): string[] {
  const found =
    told.what === 'account'
      ? database.prepare('SELECT 1 FROM users WHERE email = ?').get(told.email)
      : database
          .prepare(`SELECT 1 FROM orders WHERE id = ? AND (status = 'processing' OR ?)`)
          .get(told.id, told.what === 'order' ? 1 : 0)
  return found === undefined ? [`lost: ${JSON.stringify(told)}`] : []
}

/** The operator's look at it, and a start: both come through, or say in a line what is to be done. */
async function startOn(trial: Trial, dataDir: string, env: Record<string, string>): Promise<void> {
  const health = await runPacked(trial.packed, { dataDir, env }, 'health', '--json')
  const { checks } = JSON.parse(health.stdout) as { checks: { name: string; status: string; message: string }[] }
  const check = checks.find(({ name }) => name === 'database')
  trial.count('shopstead health on it')
  if (check?.status !== 'ok') trial.violation(`shopstead health says of the database: ${JSON.stringify(check)}`)
  const server = await servePacked(trial.packed, { dataDir, env })
  const answer = await fetch(`${server.apiRoot}/health`)
  trial.count('shopstead serve on it')
  if (answer.status !== 200) trial.violation(`/health answers ${answer.status}: ${await answer.text()}`)
  const outcome = await server.end()
  if (outcome !== 0) trial.violation(`the server ended with ${String(outcome)}`)
}
