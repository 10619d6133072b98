import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { cpuSecondsOf, pinned } from './machine.ts'

/** A request that is sent repeatedly. */
export type RequestSpec = {
  url: string
  method?: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  /** `{n}` is replaced by a number from 1 to 1000, `{guest}` by one that no other request has. */
  body?: string
}

export type Pressure = {
  seconds: number
  connections: number
  /** How long a connection waits before each request; 0 sends the next one immediately. */
  pauseMs?: number
}

/** The result of one run. */
export type Reading = {
  requests: number
  requestsASecond: number
  p50Ms: number
  p99Ms: number
  /** Responses of 400 and above, timeouts, and broken connections. */
  failures: number
}

type Report = { requests: number; micros: number; p50: number; p99: number; failures: number }

/** Whether wrk is installed. */
export function hasGenerator(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined
}

const script = join(import.meta.dirname, 'wrk.lua')

/** Sends one request repeatedly with wrk. */
export function load(request: RequestSpec, { seconds, connections, pauseMs = 0 }: Pressure): Promise<Reading> {
  const headers = Object.entries(request.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, ...headers]
  const sent = [request.url, '--', request.method ?? 'GET', request.body ?? '', String(pauseMs)]
  const [program, ...args] = pinned('load', 'wrk', ...options, ...sent)
  return new Promise((resolve, reject) => {
    execFile(program, args, (error, stdout) => {
      if (error !== null) return reject(new Error(`wrk failed on ${request.url}`, { cause: error }))
      const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Report
      resolve({
        requests: report.requests,
        requestsASecond: report.requests / (report.micros / 1e6),
        p50Ms: report.p50 / 1000,
        p99Ms: report.p99 / 1000,
        failures: report.failures
      })
    })
  })
}

/** Runs `load` and also measures the CPU time per request of the server process. */
export async function loadOn(
  pid: number,
  request: RequestSpec,
  pressure: Pressure
): Promise<Reading & { cpuMicros: number }> {
  const before = cpuSecondsOf(pid)
  const reading = await load(request, pressure)
  const usedMicros = (cpuSecondsOf(pid) - before) * 1e6
  return { ...reading, cpuMicros: usedMicros / reading.requests }
}
