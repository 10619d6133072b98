import Database from 'better-sqlite3'
import { deriveKeys, loadSecret } from '../../../src/platform/crypto/secrets.ts'
import { sealCursor } from '../../../src/shop/referrals/cursor.ts'
import type { GeneratedShop, Size } from '../generated-shop.ts'
import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import { serveShop } from '../stage.ts'
import { askedBy } from './endpoints.ts'
import type { Field, Figure, Row } from './row.ts'

/** The grown shop has a tenth of these products. */
const manyProducts: Size = { products: 10_000, orders: 1_000, users: 100, referrals: 1_000 }

const lastPage: Row = {
  name: 'last-page',
  about: 'GET /affiliates/referrals, last page by first',
  async measure(field) {
    const stage = await field.stage('manual')
    const asked = askedBy(stage, 'affiliate')
    const last = stage.shop(`/api/v1/affiliates/referrals?cursor=${lastCursor(stage.data)}`, asked)
    await assertLast(last)
    return [await timesAsLong(field, this.about, last, stage.shop('/api/v1/affiliates/referrals', asked), 1.15)]
  }
}

const tenfold: Row = {
  name: 'tenfold',
  about: '10 × the data',
  async measure(field) {
    const stage = await field.stage('manual')
    const orders = [
      stage.shop('/api/v1/orders', askedBy(stage, 'regular')),
      stage.shop('/api/v1/orders', askedBy(stage, 'occasional'))
    ] as const
    const referrals = [
      stage.shop('/api/v1/affiliates/referrals', askedBy(stage, 'affiliate')),
      stage.shop('/api/v1/affiliates/referrals', askedBy(stage, 'smallAffiliate'))
    ] as const
    return [
      await timesAsLong(field, '5,000 orders of a customer by 500', ...orders, 1.2),
      await timesAsLong(field, '1,000,000 referrals of an affiliate by 100,000', ...referrals, 1.2),
      await offersTenfold(field, stage.shop('/api/v1/store/offers'))
    ]
  }
}

export const growthRows: Row[] = [lastPage, tenfold]

async function offersTenfold(field: Field, few: Side): Promise<Figure> {
  const larger = await field.shopOf(manyProducts)
  const server = await serveShop(field.packed, larger.dataDir, 'manual')
  try {
    const many = { pid: server.pid, url: `${server.url}/api/v1/store/offers` }
    return await timesAsLong(field, '10,000 offers by 1,000', many, few, 1.2)
  } finally {
    await server.end()
  }
}

/** How many times as long one request takes as another. */
async function timesAsLong(field: Field, name: string, large: Side, small: Side, most: number): Promise<Figure> {
  const [slow, quick] = await compare(large, small, field.rounds)
  const value = quick.requestsASecond / slow.requestsASecond
  return { kind: 'figure', name, value, unit: '×', most, spread: Math.max(slow.spread, quick.spread) }
}

/** Turning the pages up to it would take an hour, so it is sealed as the shop seals it. */
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
