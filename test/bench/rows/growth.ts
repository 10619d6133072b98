import Database from 'better-sqlite3'
import { deriveKeys, loadSecret } from '../../../src/platform/crypto/secrets.ts'
import { sealCursor } from '../../../src/shop/referrals/list.ts'
import type { GeneratedShop, Size } from '../generated-shop.ts'
import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import { productPath, searchPath, serveShop } from '../servers.ts'
import type { Servers } from '../servers.ts'
import { requestAs } from './endpoints.ts'
import type { BenchContext, Figure, Row } from './row.ts'

/** Ten times the products of the grown shop. */
const manyProducts: Size = { products: 10_000, orders: 1_000, users: 100, referrals: 1_000 }

const lastPage: Row = {
  name: 'last-page',
  about: 'GET /affiliates/referrals, last page compared with first',
  async measure(context) {
    const servers = await context.servers('manual')
    const request = requestAs(servers, 'affiliate')
    const last = servers.shop(`/api/v1/affiliates/referrals?cursor=${lastCursor(servers.data)}`, request)
    await assertLast(last)
    return [await timesAsLong(context, this.about, last, servers.shop('/api/v1/affiliates/referrals', request), 1.15)]
  }
}

const tenfold: Row = {
  name: 'tenfold',
  about: '10 × the data',
  async measure(context) {
    const servers = await context.servers('manual')
    const orders = [
      servers.shop('/api/v1/orders', requestAs(servers, 'regular')),
      servers.shop('/api/v1/orders', requestAs(servers, 'occasional'))
    ] as const
    const referrals = [
      servers.shop('/api/v1/affiliates/referrals', requestAs(servers, 'affiliate')),
      servers.shop('/api/v1/affiliates/referrals', requestAs(servers, 'smallAffiliate'))
    ] as const
    return [
      await timesAsLong(context, '5,000 orders of a customer compared with 500', ...orders, 1.2),
      await timesAsLong(context, '1,000,000 referrals of an affiliate compared with 100,000', ...referrals, 1.2),
      ...(await catalogTenfold(context, servers))
    ]
  }
}

export const growthRows: Row[] = [lastPage, tenfold]

const catalog: readonly [name: string, path: string][] = [
  ['offers', '/store/offers'],
  ['products', '/store/products?sort=price'],
  ['products in a search', searchPath],
  ['products for one of them', productPath],
  ['products in the categories', '/store/categories']
]

async function catalogTenfold(context: BenchContext, servers: Servers): Promise<Figure[]> {
  const larger = await context.shopOf(manyProducts)
  const server = await serveShop(context.packed, larger.dataDir, 'manual')
  try {
    const figures: Figure[] = []
    for (const [name, path] of catalog) {
      const many = { pid: server.pid, url: `${server.url}/api/v1${path}` }
      const few = servers.shop(`/api/v1${path}`)
      figures.push(await timesAsLong(context, `10,000 ${name} compared with 1,000`, many, few, 1.2))
    }
    return figures
  } finally {
    await server.end()
  }
}

/** The time of one request divided by the time of another. */
async function timesAsLong(
  context: BenchContext,
  name: string,
  large: Side,
  small: Side,
  max: number
): Promise<Figure> {
  const [slow, quick] = await compare(large, small, context.rounds)
  const value = quick.requestsASecond / slow.requestsASecond
  return { kind: 'figure', name, value, unit: '×', max, spread: Math.max(slow.spread, quick.spread) }
}

/** The cursor of the last page, sealed like the shop's. Requesting all pages would take an hour. */
function lastCursor({ dataDir, copy }: GeneratedShop): string {
  const sqlite = new Database(copy, { readonly: true })
  const [affiliate, before] = sqlite
    .prepare<[], [number, number]>(
      `SELECT affiliate_id, id FROM referrals WHERE affiliate_id = 1 ORDER BY id LIMIT 1 OFFSET 20`
    )
    .raw()
    .get() ?? [0, 0]
  sqlite.close()
  return sealCursor(deriveKeys(loadSecret(dataDir)).cursor, affiliate, before)
}

async function assertLast({ url, headers = {} }: Side): Promise<void> {
  const { data } = (await (await fetch(url, { headers })).json()) as {
    data: { referrals: unknown[]; nextCursor: string | null }
  }
  if (data.referrals.length !== 20 || data.nextCursor !== null) throw new Error('This is not the last page.')
}
