import { setTimeout as sleep } from 'node:timers/promises'
import { grown, emailOf, password } from '../generated-shop.ts'
import { load } from '../measure/load.ts'
import type { Asked } from '../measure/load.ts'
import { residentMegabytesOf } from '../measure/machine.ts'
import { median, spread } from '../measure/statistics.ts'
import { serveShop } from '../stage.ts'
import { purchase } from './checkout.ts'
import type { Row } from './row.ts'

const fewestStarts = 5

const startUp: Row = {
  name: 'start',
  about: 'start of the packed server until the first answer',
  async measure(field) {
    await field.clear()
    const { dataDir } = await field.shopOf(grown)
    const times: number[] = []
    for (let run = 0; run < Math.max(fewestStarts, field.rounds.rounds); run += 1) {
      const startedAt = performance.now()
      const server = await serveShop(field.packed, dataDir, 'manual', { everyCore: true })
      const { status } = await fetch(`${server.url}/api/v1/health`)
      times.push(performance.now() - startedAt)
      await server.end()
      if (status !== 200) throw new Error(`/health answered ${status}.`)
    }
    return [{ kind: 'figure', name: this.about, value: median(times), unit: 'ms', most: 350, spread: spread(times) }]
  }
}

/** Long enough for what a start leaves behind to be collected, and for memory given back to be seen. */
const settleMs = 2_000

const memory: Row = {
  name: 'memory',
  about: 'resident memory',
  async measure(field) {
    await field.clear()
    const shop = await field.shopOf(grown)
    const server = await serveShop(field.packed, shop.dataDir, 'sandbox')
    try {
      await fetch(`${server.url}/api/v1/health`)
      await sleep(settleMs)
      const idle = residentMegabytesOf(server.pid)
      for (const asked of everything(`${server.url}/api/v1`, shop.cookieOf('regular'), shop.cookieOf('affiliate')))
        await load(asked, field.rounds)
      await sleep(settleMs)
      const loaded = residentMegabytesOf(server.pid)
      return [
        { kind: 'figure', name: 'memory, idle', value: idle, unit: 'MB', most: 100 },
        { kind: 'figure', name: 'memory, after the load', value: loaded, unit: 'MB', most: 220 }
      ]
    } finally {
      await server.end()
    }
  }
}

export const footprintRows: Row[] = [startUp, memory]

function everything(apiRoot: string, regular: string, affiliate: string): Asked[] {
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
