import { setTimeout as sleep } from 'node:timers/promises'
import { grown, emailOf, password } from '../generated-shop.ts'
import { load } from '../measure/load.ts'
import type { RequestSpec } from '../measure/load.ts'
import { residentMegabytesOf } from '../measure/machine.ts'
import { median, spread } from '../measure/statistics.ts'
import { serveShop } from '../servers.ts'
import { purchase } from './checkout.ts'
import type { Row } from './row.ts'

const minStarts = 5

const startUp: Row = {
  name: 'start',
  about: 'start of the packed server to its first response',
  async measure(context) {
    await context.clear()
    const { dataDir } = await context.shopOf(grown)
    const times: number[] = []
    for (let run = 0; run < Math.max(minStarts, context.rounds.rounds); run += 1) {
      const startedAt = performance.now()
      const server = await serveShop(context.packed, dataDir, 'manual', { everyCore: true })
      const { status } = await fetch(`${server.url}/api/v1/health`)
      times.push(performance.now() - startedAt)
      await server.end()
      if (status !== 200) throw new Error(`/health returned ${status}.`)
    }
    return [{ kind: 'figure', name: this.about, value: median(times), unit: 'ms', max: 300, spread: spread(times) }]
  }
}

/** Long enough for a garbage collection after the start, and for freed memory to be returned. */
const settleMs = 2_000

const memory: Row = {
  name: 'memory',
  about: 'resident memory',
  async measure(context) {
    await context.clear()
    const shop = await context.shopOf(grown)
    const server = await serveShop(context.packed, shop.dataDir, 'sandbox')
    try {
      await fetch(`${server.url}/api/v1/health`)
      await sleep(settleMs)
      const idle = residentMegabytesOf(server.pid)
      for (const request of everything(`${server.url}/api/v1`, shop.cookieOf('regular'), shop.cookieOf('affiliate')))
        await load(request, context.rounds)
      await sleep(settleMs)
      const loaded = residentMegabytesOf(server.pid)
      return [
        { kind: 'figure', name: 'memory, idle', value: idle, unit: 'MB', max: 100 },
        { kind: 'figure', name: 'memory, after the load', value: loaded, unit: 'MB', max: 220 }
      ]
    } finally {
      await server.end()
    }
  }
}

export const footprintRows: Row[] = [startUp, memory]

function everything(apiRoot: string, regular: string, affiliate: string): RequestSpec[] {
  const login = JSON.stringify({ email: emailOf('{n}'), password })
  return [
    { url: `${apiRoot}/store/offers` },
    { url: `${apiRoot}/me`, headers: { Cookie: regular } },
    { url: `${apiRoot}/orders`, headers: { Cookie: regular } },
    { url: `${apiRoot}/affiliates/referrals`, headers: { Cookie: affiliate } },
    { url: `${apiRoot}/auth/login`, method: 'POST', headers: purchase.headers, body: login },
    { url: `${apiRoot}/store/checkout-session`, ...purchase }
  ]
}
