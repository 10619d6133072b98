import { Agent } from 'node:http'
import { sendRequest } from '../../torture/http-client.ts'
import { copyWith, small } from '../generated-shop.ts'
import { cpuSecondsOf } from '../measure/machine.ts'
import { serveShop } from '../servers.ts'
import { purchase } from './checkout.ts'
import type { Row } from './row.ts'

const carts = 100_000
const cartsOfShort = 2_000
/** How many of the first and of the last checkouts are compared. */
const compared = 1_000
/** V8 compiles the hot functions in the first ones. */
const warmUp = 3_000
const most = 1.2
/** In how many seconds the carts arrive at most. */
const mostSeconds = 600

/** Each cart is one more unpaid order of a guest with their own email and address. */
export const flashSaleRow: Row = {
  name: 'flash-sale',
  about: 'a flash sale: 100,000 carts of 100,000 guests, none of them paid yet',
  async measure({ packed, rounds: { connections, warmUpSeconds }, shopOf, clear }) {
    await clear()
    const isShort = warmUpSeconds === 0
    // Guests share the stock, so its units that others hold are counted.
    const { dataDir } = copyWith(await shopOf(small), 'UPDATE products SET stock = 10000000 WHERE id = 7')
    const server = await serveShop(packed, dataDir, 'sandbox')
    try {
      const buy = sale(`${server.url}/api/v1/store/checkout-session`, server.pid, connections)
      if (!isShort) await buy(warmUp)
      const part = isShort ? cartsOfShort / 4 : compared
      const startedAt = performance.now()
      const first = await buy(part)
      const between = await buy((isShort ? cartsOfShort : carts) - 2 * part)
      const last = await buy(part)
      const seconds = (performance.now() - startedAt) / 1_000
      const named = (what: string, unit: string, of: (sold: Sold) => number) =>
        `${what} of the last ${part.toLocaleString('en')} checkouts compared with the first: ${of(last).toFixed(2)} and ${of(first).toFixed(2)} ${unit}`
      return [
        { kind: 'figure', name: named('p99', 'ms', p99), value: p99(last) / p99(first), unit: '×', max: most },
        {
          kind: 'figure',
          name: named('CPU time', 'ms', cpuMs),
          value: cpuMs(last) / cpuMs(first),
          unit: '×',
          max: most
        },
        { kind: 'figure', name: 'all carts of the flash sale', value: seconds, unit: 's', max: mostSeconds },
        {
          kind: 'figure',
          name: 'refused carts of the flash sale',
          value: first.refused + between.refused + last.refused,
          unit: 'failures',
          max: 0
        }
      ]
    } finally {
      await server.end()
    }
  }
}

type Sold = { times: number[]; cpuMs: number; refused: number }

/** Sends checkouts of new guests, so many at a time. */
function sale(url: string, pid: number, connections: number): (count: number) => Promise<Sold> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let guest = 0
  return async (count) => {
    const sold: Sold = { times: [], cpuMs: 0, refused: 0 }
    const end = guest + count
    const before = cpuSecondsOf(pid)
    const buyer = async (): Promise<void> => {
      while (guest < end) {
        guest += 1
        const body = purchase.body.replace('{n}', String((guest % 1_000) + 1)).replace('{guest}', String(guest))
        const address = `10.${(guest >> 16) & 255}.${(guest >> 8) & 255}.${guest & 255}`
        const { status, ms } = await sendRequest(url, { agent, body, headers: { 'x-forwarded-for': address } })
        sold.times.push(ms)
        if (status !== 200) sold.refused += 1
      }
    }
    await Promise.all(Array.from({ length: connections }, buyer))
    sold.cpuMs = (cpuSecondsOf(pid) - before) * 1_000
    return sold
  }
}

const p99 = ({ times }: Sold): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
const cpuMs = ({ cpuMs: used, times }: Sold): number => used / times.length
