import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { emailOf, password } from '../generated-shop.ts'
import type { Measured, Rounds, Side } from '../measure/compare.ts'
import { load, loadOn } from '../measure/load.ts'
import type { Reading } from '../measure/load.ts'
import { pinned } from '../measure/machine.ts'
import { median, spread } from '../measure/statistics.ts'
import type { Row } from './row.ts'

const health = { name: 'p99 of GET /health during the logins', unit: 'ms', max: 20 } as const

/** A thousand users log in, in turn, while /health is requested every 10 ms. */
export const loginRow: Row = {
  name: 'login',
  about: 'POST /auth/login',
  async measure(context) {
    const servers = await context.servers('manual')
    const body = JSON.stringify({ email: emailOf('{n}'), password })
    const headers = { 'Content-Type': 'application/json' }
    const logins = servers.shop('/api/v1/auth/login', { method: 'POST', headers, body })
    const { status } = await fetch(logins.url, { method: 'POST', headers, body: body.replace('{n}', '9') })
    if (status !== 200) throw new Error(`A login returned ${status}.`)
    const readings: LoginReading[] = []
    const bare: Bare[] = []
    for (let round = 0; round < context.rounds.rounds; round += 1) {
      bare.push(await bareArgon2(context.rounds.seconds))
      readings.push(await logInBesideHealth(logins, servers.shop('/api/v1/health'), context.rounds))
    }
    const healthMs = readings.map((reading) => reading.healthP99Ms)
    const sides = { shop: measuredLogins(readings), reference: measuredBare(bare) }
    return [
      { kind: 'comparison', name: this.about, against: 'bare argon2', target: 0.95, serves: 'logins', ...sides },
      { kind: 'figure', ...health, value: median(healthMs), spread: spread(healthMs) },
      { kind: 'figure', name: 'failed logins', value: sides.shop.failures, unit: 'failures', max: 0 }
    ]
  }
}

type LoginReading = Reading & { cpuMicros: number; healthP99Ms: number }
type Bare = { aSecond: number; cpuMicros: number }

async function logInBesideHealth(logins: Side, health: Side, rounds: Rounds): Promise<LoginReading> {
  const [reading, beside] = await Promise.all([
    loadOn(logins.pid, logins, rounds),
    load(health, { seconds: rounds.seconds, connections: 1, pauseMs: 10 })
  ])
  return { ...reading, healthP99Ms: beside.p99Ms }
}

/** Runs bare argon2 on the shop's core. */
async function bareArgon2(seconds: number): Promise<Bare> {
  const script = join(import.meta.dirname, '..', 'bare-argon2.ts')
  const [program, ...args] = pinned('server', process.execPath, script, String(seconds), password)
  const { stdout } = await promisify(execFile)(program, args)
  return JSON.parse(stdout) as Bare
}

function measuredLogins(readings: readonly LoginReading[]): Measured {
  const middle = (of: (reading: LoginReading) => number): number => median(readings.map(of))
  return {
    requestsASecond: middle((reading) => reading.requestsASecond),
    cpuMicros: middle((reading) => reading.cpuMicros),
    p50Ms: middle((reading) => reading.p50Ms),
    p99Ms: middle((reading) => reading.p99Ms),
    failures: readings.reduce((sum, { failures }) => sum + failures, 0),
    spread: spread(readings.map((reading) => reading.requestsASecond))
  }
}

function measuredBare(bare: readonly Bare[]): Measured {
  const rates = bare.map(({ aSecond }) => aSecond)
  const cpuMicros = median(bare.map((one) => one.cpuMicros))
  return { requestsASecond: median(rates), cpuMicros, p50Ms: NaN, p99Ms: NaN, failures: 0, spread: spread(rates) }
}
