import { spawnSync } from 'node:child_process'
import type { Packed } from '../../support/packed.ts'
import { runPacked } from '../../torture/packed-shop.ts'
import type { GeneratedShop, Person, Size } from '../generated-shop.ts'
import { cpuSecondsOf } from '../measure/machine.ts'
import { median, spread } from '../measure/statistics.ts'
import { serveShop } from '../servers.ts'
import type { Figure, Row } from './row.ts'

const many: Size = {
  products: 100_000,
  orders: 1_000_000,
  users: 1_000_000,
  referrals: 1_000_000,
  events: 10_000_000
}
const few: Size = { products: 10_000, orders: 100_000, users: 100_000, referrals: 100_000, events: 1_000_000 }
const rounds = 3

type Question = { path: string; person?: Person; body?: object }

/** `{n}` is another number from 1 to 9,999 in each request, so that no cache answers, and `{page}` one to 200. */
const questions: readonly Question[] = [
  { path: '/api/v1/store/offers' },
  { path: '/api/v1/store/offers?page={page}' },
  { path: '/api/v1/store/offers?search={n}' },
  { path: '/api/v1/store/products?page={page}' },
  { path: '/api/v1/store/products?search={n}' },
  { path: '/api/v1/store/products?search=missing' },
  { path: '/api/v1/store/products/product-{n}' },
  { path: '/api/v1/store/categories' },
  { path: '/api/v1/store/payment-config' },
  { path: '/api/v1/store/quote', body: { items: [{ productId: 7, quantity: 2 }] } },
  { path: '/api/v1/me', person: 'member' },
  { path: '/api/v1/orders', person: 'regular' },
  { path: '/api/v1/orders?page=40', person: 'regular' },
  { path: '/api/v1/orders/20', person: 'regular' },
  { path: '/api/v1/me/subscriptions', person: 'member' },
  { path: '/api/v1/me/downloads', person: 'member' },
  { path: '/api/v1/me/address', person: 'member' },
  { path: '/api/v1/affiliates/me', person: 'affiliate' },
  { path: '/api/v1/affiliates/stats', person: 'affiliate' },
  { path: '/api/v1/affiliates/referrals', person: 'affiliate' },
  { path: '/' },
  { path: '/?page={page}' },
  { path: '/?search={n}' },
  { path: '/products/product-{n}' },
  { path: '/sitemap-1.xml' },
  { path: '/checkout/done/token-{n}' }
]

const commands: readonly string[] = [
  'users list --limit 20',
  'users list --search user-777',
  'users show 777',
  'orders list --limit 20',
  'orders list --search token-777',
  'orders list --status completed',
  'orders show 777',
  'offers list --limit 20',
  'offers list --search 777',
  'offers show product-777',
  'affiliates list',
  'affiliates show code4',
  'referrals list --limit 20',
  'referrals list --affiliate code4',
  'coupons list',
  'events list --limit 20',
  'events list --type order.paid --limit 20',
  'webhooks deliveries'
]

/** Every page, endpoint and command that lists or searches, in the largest shop and in one with a tenth of its data. */
export const everythingRow: Row = {
  name: 'everything',
  about: 'CPU time with 10 × the data: endpoints, pages and commands',
  async measure({ packed, shopOf }) {
    const shops = [await shopOf(many), await shopOf(few)] as const
    for (const { dataDir } of shops) {
      await runPacked(packed, { dataDir }, 'settings', 'set', 'storefront.enabled', 'true')
      // Otherwise the server deletes events while it is measured.
      await runPacked(packed, { dataDir }, 'settings', 'set', 'events.keepDays', '3650')
    }
    return [...(await compareRequests(packed, shops)), ...compareCommands(packed, shops)]
  }
}

type Shops = readonly [large: GeneratedShop, small: GeneratedShop]

async function compareRequests(packed: Packed, shops: Shops): Promise<Figure[]> {
  const servers = await Promise.all(shops.map(({ dataDir }) => serveShop(packed, dataDir, 'manual')))
  try {
    const figures: Figure[] = []
    for (const question of questions) {
      const times = shops.map((): number[] => [])
      for (let round = 0; round < rounds; round += 1)
        for (const [index, shop] of shops.entries())
          times[index]?.push(await cpuOf(servers[index] as (typeof servers)[number], question, shop))
      figures.push(figureOf(question.path, times))
    }
    return figures
  } finally {
    await Promise.all(servers.map((server) => server.end()))
  }
}

/** The server's CPU time for one request, in milliseconds. */
async function cpuOf(
  { pid, url }: { pid: number; url: string },
  { path, person, body }: Question,
  shop: GeneratedShop
): Promise<number> {
  const cookie = person === undefined ? {} : { cookie: shop.cookieOf(person) }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { ...cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const ask = async (): Promise<void> => {
    const asked = path.replace('{n}', below(9_999)).replace('{page}', below(200))
    const response = await fetch(url + asked, { ...init, headers })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  }
  for (let times = 0; times < 200; times += 1) await ask()
  const before = cpuSecondsOf(pid)
  let requests = 0
  // The kernel counts CPU time in steps of 10 ms.
  for (; cpuSecondsOf(pid) - before < 0.5; requests += 1) await ask()
  return ((cpuSecondsOf(pid) - before) * 1_000) / requests
}

const below = (most: number): string => String(1 + Math.floor(Math.random() * most))

function compareCommands(packed: Packed, shops: Shops): Figure[] {
  return commands.map((words) => {
    const times = shops.map((): number[] => [])
    for (let round = 0; round < rounds; round += 1)
      for (const [index, { dataDir }] of shops.entries()) times[index]?.push(cpuOfCommand(packed, dataDir, words))
    return figureOf(`shopstead ${words}`, times)
  })
}

/** Prints the CPU time that the process used when it ends, on a stream of its own. */
const meter = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,String((user+system)/1e3))})`

/** The CPU time of a command in milliseconds, with its start. */
function cpuOfCommand(packed: Packed, dataDir: string, words: string): number {
  const argv = ['--import', meter, packed.program, ...words.split(' '), '--data-dir', dataDir]
  const { output, stderr } = spawnSync(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    cwd: packed.home
  })
  const time = Number(output[3])
  if (!(time > 0)) throw new Error(`shopstead ${words}: ${stderr}`)
  return time
}

function figureOf(what: string, [large = [], small = []]: readonly number[][]): Figure {
  const [long, short] = [median(large), median(small)]
  const name = `${what}: ${long.toFixed(2)} ms and ${short.toFixed(2)} ms`
  return {
    kind: 'figure',
    name,
    value: long / short,
    unit: '×',
    max: 1.2,
    spread: Math.max(spread(large), spread(small))
  }
}
