import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkProxy, ruleNames } from '../../src/proxy/check/check-proxy.ts'
import type { Finding } from '../../src/proxy/check/check-proxy.ts'
import { toNodeListener } from '../../src/proxy/node.ts'
import { createProxy } from '../../src/proxy/proxy.ts'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'
import { faults } from './faults.ts'
import type { Fault } from './faults.ts'

let shop: RunningShop
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** This rule waits for timeouts; the other rules need none, and a busy machine must not exceed a short one. */
const waiting = ['service-hangs']
const quick = ruleNames.filter((name) => !waiting.includes(name))
/** These send a request to each route, which is half of the requests. */
const ofEachRoute = new Set(['nonce-required', 'nonce-checked'])
/** One hundredth of the real timeouts of 15 and 30 seconds. */
const timeouts = { usualMs: 150, checkoutMs: 300 }

async function serve(handle: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(toNodeListener(handle))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/secure`
}

type Wait = (usualMs: number) => number

/** The proxy of this package with one fault. */
function faulty(fault: Fault, upstream: () => string, timeoutMs?: Wait): (request: Request) => Promise<Response> {
  return async (original) => {
    const proxy = createProxy({
      upstream: upstream(),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      send: async (request) => {
        const sent = (await fault.send?.(request, original)) ?? request
        return sent instanceof Response ? sent : fetch(sent)
      }
    })
    const request = (await fault.before?.(original, `${upstream()}/api/v1`)) ?? original
    const response = request instanceof Response ? request : await proxy(request)
    return fault.after?.(response, original) ?? response
  }
}

/** Checks a proxy with a fault, with an interceptor between it and the shop. */
async function check(fault: Fault, rules = quick): Promise<Finding[]> {
  let port = 0
  const wait: Wait = (usualMs) => (fault.timeoutMs?.(usualMs) ?? usualMs) / 100
  const root = await serve(faulty(fault, () => `http://127.0.0.1:${port}`, rules === waiting ? wait : undefined))
  return checkProxy({
    root: new URL(root),
    intercept: { port: 0, service: new URL(`${shop.url}/api/v1`) },
    rules,
    timeouts,
    onListening: (bound) => (port = bound)
  })
}

const named = (findings: readonly Finding[], status: Finding['status']): string[] =>
  findings.filter((finding) => finding.status === status).map(({ rule }) => rule)

describe('the conformance check', () => {
  it('reports no broken rule for a correct proxy', async () => {
    const findings = [...(await check({})), ...(await check({}, waiting))]
    expect(findings.filter(({ status }) => status !== 'kept')).toEqual([])
    expect(findings.map(({ rule }) => rule)).toEqual(ruleNames)
    expect(ruleNames.length).toBeGreaterThanOrEqual(12)
    expect(new Set(ruleNames).size).toBe(ruleNames.length)
  })

  it('is tested with a faulty proxy for each rule', () => {
    expect(Object.keys(faults).toSorted()).toEqual(ruleNames.toSorted())
  })

  it.each(Object.entries(faults))('reports a proxy that breaks %s', async (rule, fault) => {
    const others = quick.filter((name) => name === rule || !ofEachRoute.has(name))
    const findings = await check(fault, waiting.includes(rule) ? waiting : others)
    expect(named(findings, 'broken')).toContain(rule)
    const found = findings.find((finding) => finding.rule === rule)
    expect(found?.problems.length).toBeGreaterThan(0)
    // A fault must not break unrelated rules.
    expect(named(findings, 'broken').length).toBeLessThan(8)
  })

  it('checks a proxy without an interceptor, and reports the unchecked rules', async () => {
    const findings = await checkProxy({ root: new URL(`${shop.url}/api/secure`) })
    expect(named(findings, 'broken')).toEqual([])
    expect(named(findings, 'kept').length).toBeGreaterThanOrEqual(12)
    expect(findings.find(({ rule }) => rule === 'own-cookies-only')).toMatchObject({ status: 'unchecked' })
  })

  it('changes nothing in the shop', async () => {
    const state = (): unknown =>
      ['orders', 'users', 'sessions', 'visits', 'idempotency_keys'].map((table) =>
        shop.app.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
      )
    const before = state()
    await check({})
    expect(state()).toEqual(before)
  })

  it('fails when there is no proxy, and when the proxy does not use the interceptor', async () => {
    const unavailable = expect.objectContaining({ code: 'DEPENDENCY_UNAVAILABLE' }) as Error
    await expect(checkProxy({ root: new URL('http://127.0.0.1:9/api/secure') })).rejects.toEqual(unavailable)
    await expect(checkProxy({ root: new URL(`${shop.url}/nowhere`) })).rejects.toEqual(unavailable)
    const intercept = { port: 0, service: new URL(`${shop.url}/api/v1`) }
    await expect(checkProxy({ root: new URL(`${shop.url}/api/secure`), intercept })).rejects.toEqual(unavailable)
  })
})

describe('shopstead proxy check', () => {
  const run = (...args: string[]) => shopstead(shop.dataDir, ['proxy', 'check', ...args])

  it('exits with 0 when every rule is kept', async () => {
    const { code, stdout } = await run(`${shop.url}/api/secure`, '--json')
    const answer = JSON.parse(stdout) as { kept: boolean; rules: Finding[] }
    expect([code, answer.kept, answer.rules.map(({ rule }) => rule)]).toEqual([0, true, ruleNames])
  })

  it('exits with 1 when a rule is broken, and names it', async () => {
    const root = await serve(faulty(faults['no-cors'] ?? {}, () => shop.url))
    const { code, stdout } = await run(root)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^broken +no-cors$/m)
    expect(stdout).toContain('Access-Control-Allow-Origin is *')
    expect(stdout).toContain('1 broken')
  })

  it.each([[['ftp://shop.example']], [['http://shop.example', '--listen', '4000']], [[]]])(
    'exits with 2 for the arguments %j',
    async (args) => {
      expect((await run(...args)).code).toBe(2)
    }
  )
})
