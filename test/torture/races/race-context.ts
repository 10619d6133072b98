import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openGateway, stripeEnv } from '../../faults/shop-and-gateway.ts'
import type { Gateway } from '../../faults/shop-and-gateway.ts'
import type { Answer } from '../../support/browser.ts'
import { Browser } from '../../support/browser.ts'
import { withoutHoldLimits } from '../../support/hold-limits.ts'
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer, CommandResult, LaunchOptions } from '../packed-shop.ts'
import type { Trial } from '../part.ts'
import { openRelay } from './relay.ts'
import type { Relay } from './relay.ts'

/** A resource that many requests want and only one may get. */
export type Race = {
  name: string
  /** The number of rounds in the short form. */
  shortRounds: number
  /** Runs one round; `round` starts at 1. */
  run(context: RaceContext, round: number): Promise<void>
  /** Verifies the state after all rounds. */
  after?(context: RaceContext, rounds: number): Promise<void>
}

/** Two server processes on one database, and their gateway. */
export type RaceContext = {
  trial: Trial
  dataDir: string
  servers: readonly PackedServer[]
  gateway: Gateway
  relay: Relay
  /** For data that clients cannot see, such as a coupon's number of uses. Never used for money. */
  db: Db
  /** A new client of one of the servers, chosen by index. */
  visitor(index: number, headers?: Record<string, string>): Browser
  set(key: SettingKey, value: string): void
  /** Runs a command as a separate process. */
  cli(...args: string[]): Promise<CommandResult>
  close(): Promise<void>
}

export const password = 'tidal-basalt-93'

/** The number of concurrent requests. */
export const crowdSize = 50

/** Starts both servers with the given catalog and without rate limits. */
export async function openRaceContext(trial: Trial, catalog: object): Promise<RaceContext> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-races-'))
  const servers: PackedServer[] = []
  const relay = await openRelay(() => servers.map(({ url }) => url))
  const gateway = await openGateway(() => relay.origin)
  const env = {
    ...stripeEnv(gateway.origin),
    SHOPSTEAD_PAYMENTS: 'stripe,manual',
    // Both processes need the same public URL. Otherwise they would send the gateway different parameters under one key.
    SHOPSTEAD_PUBLIC_URL: relay.origin
  }
  const launch: LaunchOptions = { dataDir, env }
  const cli = (...args: string[]): Promise<CommandResult> => runPacked(trial.packed, launch, ...args)
  await prepare(dataDir, catalog, cli)
  const db = openDatabase(join(dataDir, 'shopstead.db'), { mustExist: true })
  const set: RaceContext['set'] = (key, value) => setSetting(db, key, value, Date.now())
  for (const bucket of openBuckets) set(`limits.${bucket}`, 'off')
  for (const [key, value] of Object.entries(withoutHoldLimits)) set(key as SettingKey, value)
  set('affiliates.payoutHoldDays', '0')
  const other = otherFolder(dataDir)
  const launches = [launch, { ...launch, dataDir: other }]
  servers.push(...(await Promise.all(launches.map((each) => servePacked(trial.packed, each)))))
  return {
    trial,
    dataDir,
    servers,
    gateway,
    relay,
    db,
    // The servers' own addresses instead of their common public URL.
    visitor: (index, headers) => new Browser(`${servers[index % servers.length]?.url ?? ''}/api/v1`, headers),
    set,
    cli,
    async close() {
      await Promise.all(servers.map((server) => server.end()))
      await gateway.close()
      await relay.close()
      db.sqlite.close()
      for (const folder of [dataDir, other]) rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * A data folder with the same database, key, counters and emails. A server refuses the folder of another one; the transactions
 * must decide each race all the same, because commands work beside a server.
 */
function otherFolder(dataDir: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-races-'))
  mkdirSync(join(dataDir, 'mail'), { recursive: true, mode: 0o700 })
  for (const name of ['shopstead.db', 'limits.db', 'secret.key', 'mail'])
    symlinkSync(join(dataDir, name), join(folder, name))
  return folder
}

const openBuckets = [
  'register_ip',
  'register_email',
  'login_ip',
  'login_account',
  'checkout_ip',
  'coupon_failure',
  'recovery_ip',
  'recovery_email',
  'token_ip'
] as const

async function prepare(dataDir: string, catalog: object, cli: RaceContext['cli']): Promise<void> {
  const file = join(dataDir, 'catalog.json')
  for (const args of [['init'], ['seed', file]]) {
    if (args[0] === 'seed') writeFileSync(file, JSON.stringify(catalog))
    const { exitCode, stdout, stderr } = await cli(...args)
    if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
  }
}

/** Runs `send` for 0 to `times` - 1 concurrently. */
export function concurrently<T>(times: number, send: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => send(index)))
}

/** A response's status, code and reason, such as `422 VALIDATION_FAILED items.0.quantity`. */
export function outcomeOf({ status, error }: Answer<unknown>): string {
  if (error === undefined) return String(status)
  const { reason, bucket, fieldErrors = {} } = error.details
  const why = [reason, bucket, ...Object.keys(fieldErrors as object)].filter((outcome) => outcome !== undefined)
  return [status, error.code, ...why].map(String).join(' ')
}

/** The number of times that each outcome occurs. */
export function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

/** The response when the database is locked for too long. The request must then have had no effect. */
export const busy = '503 DEPENDENCY_UNAVAILABLE'

/** Verifies that one request won and that all others got a documented refusal. */
export function expectOneWinner(
  { trial }: RaceContext,
  what: string,
  outcomes: readonly string[],
  { winner, losers }: { winner: string; losers: readonly string[] }
): void {
  trial.count(what, outcomes.length)
  const won = outcomes.filter((outcome) => outcome === winner).length
  const unexpected = outcomes.filter((outcome) => outcome !== winner && outcome !== busy && !losers.includes(outcome))
  const late = outcomes.filter((outcome) => outcome === busy).length
  if (late > 0) trial.count(`${what}: asked to retry later`, late)
  if (won === 1 && unexpected.length === 0) return
  const counts = JSON.stringify(tally(outcomes))
  trial.violation(`${what}: expected one ${winner} and ${losers.join(' or ')} for the rest, got ${counts}`)
}

/** Reports a violation if two values differ as JSON. */
export function expectEqual({ trial }: RaceContext, what: string, actual: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (left !== right) trial.violation(`${what}: expected ${right}, got ${left}`)
}

/** Registers a new customer, who is logged in. */
export async function registerCustomer(
  context: RaceContext,
  email: string,
  index = 0,
  fields: Record<string, unknown> = {}
): Promise<Browser> {
  const visitor = context.visitor(index)
  const { status, text } = await visitor.register({ email, password, ...fields })
  if (status !== 201) throw new Error(`${email} could not register: ${text}`)
  return visitor
}

/** A client of another server with the same session. */
export function sameSessionAt(context: RaceContext, visitor: Browser, index: number): Browser {
  const other = context.visitor(index)
  for (const [name, value] of visitor.cookies) other.cookies.set(name, value)
  return other
}
