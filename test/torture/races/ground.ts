import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
import { runPacked, servePacked } from '../packed-shop.ts'
import type { PackedServer, CommandResult, LaunchOptions } from '../packed-shop.ts'
import type { Trial } from '../part.ts'
import { openRelay } from './relay.ts'
import type { Relay } from './relay.ts'

/** One thing that several want at once and one may have. */
export type Race = {
  name: string
  /** How often the short form runs it. */
  short: number
  /** Runs it once; `round` counts from 1. */
  run(ground: Ground, round: number): Promise<void>
  /** What has to be true after all rounds. */
  after?(ground: Ground, rounds: number): Promise<void>
}

/** Two servers, each a process of its own, on one data folder, and the gateway that both pay with. */
export type Ground = {
  trial: Trial
  dataDir: string
  servers: readonly PackedServer[]
  gateway: Gateway
  relay: Relay
  /** For the books that no client can see, such as a coupon's uses; never for money. */
  db: Db
  /** Somebody with a cookie jar at one of the servers, by turns. */
  visitor(index: number, headers?: Record<string, string>): Browser
  set(key: SettingKey, value: string): void
  /** A command as a process beside the servers. */
  cli(...words: string[]): Promise<CommandResult>
  close(): Promise<void>
}

export const password = 'tidal-basalt-93'

/** How many ask at once. */
export const crowd = 50

/** A shop of which both processes are up, with what every race needs on its shelf. */
export async function openGround(trial: Trial, catalogue: object): Promise<Ground> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-races-'))
  const servers: PackedServer[] = []
  const relay = await openRelay(() => servers.map(({ url }) => url))
  const gateway = await openGateway(() => relay.origin)
  const env = {
    ...stripeEnv(gateway.origin),
    SHOPSTEAD_PAYMENTS: 'stripe,manual',
    // Processes of one shop have one address, or they would ask the gateway for different pages under one key.
    SHOPSTEAD_PUBLIC_URL: relay.origin
  }
  const launch: LaunchOptions = { dataDir, env }
  const cli = (...words: string[]): Promise<CommandResult> => runPacked(trial.packed, launch, ...words)
  await prepare(dataDir, catalogue, cli)
  const db = openDatabase(join(dataDir, 'shopstead.db'), { mustExist: true })
  const set: Ground['set'] = (key, value) => setSetting(db, key, value, Date.now())
  for (const bucket of openBuckets) set(`limits.${bucket}`, 'off')
  set('affiliates.payoutHoldDays', '0')
  servers.push(...(await Promise.all([servePacked(trial.packed, launch), servePacked(trial.packed, launch)])))
  return {
    trial,
    dataDir,
    servers,
    gateway,
    relay,
    db,
    // Not their common public address, but where each of them listens.
    visitor: (index, headers) => new Browser(`${servers[index % servers.length]?.url ?? ''}/api/v1`, headers),
    set,
    cli,
    async close() {
      await Promise.all(servers.map((server) => server.end()))
      await gateway.close()
      await relay.close()
      db.sqlite.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

const openBuckets = [
  'register_ip',
  'register_email',
  'login_ip',
  'login_account',
  'checkout_ip',
  'coupon_failure',
  'recovery_email',
  'token_ip'
] as const

async function prepare(dataDir: string, catalogue: object, cli: Ground['cli']): Promise<void> {
  const file = join(dataDir, 'catalogue.json')
  for (const words of [['migrate'], ['seed', file]]) {
    if (words[0] === 'seed') writeFileSync(file, JSON.stringify(catalogue))
    const { exitCode, stdout, stderr } = await cli(...words)
    if (exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
  }
}

/** Everybody sends in the same moment, by turns to one server and the other. */
export function atOnce<T>(times: number, send: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => send(index)))
}

/** An answer in a few words: its status, its code, and what it says of the reason. */
export function wordOf({ status, error }: Answer<unknown>): string {
  if (error === undefined) return String(status)
  const { reason, bucket, fieldErrors = {} } = error.details
  const why = [reason, bucket, ...Object.keys(fieldErrors as object)].filter((word) => word !== undefined)
  return [status, error.code, ...why].map(String).join(' ')
}

export function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/** Told to whom the database could not be had in time; nothing was done then, which the books have to show. */
export const busy = '503 DEPENDENCY_UNAVAILABLE'

/** One wins, and each of the others is told one of the words that are documented for it. */
export function expectOneWinner(
  { trial }: Ground,
  what: string,
  words: readonly string[],
  { winner, losers }: { winner: string; losers: readonly string[] }
): void {
  trial.count(what, words.length)
  const won = words.filter((word) => word === winner).length
  const strange = words.filter((word) => word !== winner && word !== busy && !losers.includes(word))
  const late = words.filter((word) => word === busy).length
  if (late > 0) trial.count(`${what}: told to come back later`, late)
  if (won === 1 && strange.length === 0) return
  const told = JSON.stringify(tally(words))
  trial.violation(`${what}: expected one ${winner} and ${losers.join(' or ')} for the rest, came ${told}`)
}

/** Says what was expected and what came, where they differ. */
export function expectEqual({ trial }: Ground, what: string, came: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(came), JSON.stringify(expected)]
  if (left !== right) trial.violation(`${what}: expected ${right}, came ${left}`)
}

/** Somebody new with an account, who is logged in. */
export async function newcomer(
  ground: Ground,
  email: string,
  index = 0,
  fields: Record<string, unknown> = {}
): Promise<Browser> {
  const visitor = ground.visitor(index)
  const { status, text } = await visitor.register({ email, password, ...fields })
  if (status !== 201) throw new Error(`${email} could not register: ${text}`)
  return visitor
}

/** The same session at the other server. */
export function beside(ground: Ground, visitor: Browser, index: number): Browser {
  const other = ground.visitor(index)
  for (const [name, value] of visitor.cookies) other.cookies.set(name, value)
  return other
}
