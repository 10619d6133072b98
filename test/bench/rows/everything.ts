import { spawnSync } from 'node:child_process'
import type { Packed } from '../../support/packed.ts'
import { runPacked } from '../../torture/packed-shop.ts'
import type { GeneratedShop, Person, Size } from '../generated-shop.ts'
import type { Question } from '../measure/request-cpu.ts'
import { compareRequests, growthOf } from './larger.ts'
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

const questions: readonly Question<Person>[] = [
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
    const [large, small] = [await shopOf(many), await shopOf(few)]
    for (const { dataDir } of [large, small]) {
      await runPacked(packed, { dataDir }, 'settings', 'set', 'storefront.enabled', 'true')
      // Otherwise the server deletes events while it is measured.
      await runPacked(packed, { dataDir }, 'settings', 'set', 'events.keepDays', '3650')
    }
    const effort = { rounds, warmUp: 200, cpuSeconds: 0.5 }
    return [
      ...(await compareRequests(packed, { large, small }, questions, effort)),
      ...compareCommands(packed, large, small)
    ]
  }
}

function compareCommands(packed: Packed, large: GeneratedShop, small: GeneratedShop): Figure[] {
  return commands.map((words) => {
    const times = { large: [] as number[], small: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      times.large.push(cpuOfCommand(packed, large.dataDir, words))
      times.small.push(cpuOfCommand(packed, small.dataDir, words))
    }
    return growthOf(`shopstead ${words}`, times)
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
