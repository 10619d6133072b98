import { and, eq, isNull } from 'drizzle-orm'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { createUser } from '../../shop/accounts/create-user.ts'
import { findUserByEmail } from '../../shop/accounts/find.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { listAffiliates } from '../../shop/affiliates/find.ts'
import { products } from '../../shop/catalog/schema.ts'
import { findSellable, publicPrices } from '../../shop/catalog/sellable.ts'
import { checkoutQuery } from '../../shop/checkout/input.ts'
import type { OrderStatus } from '../../shop/orders/states.ts'
import { seededRandom } from './random.ts'
import type { Random } from './random.ts'
import { countOrders } from './demo.ts'
import { demoPassword } from './logins.ts'
import { dayMs, replay } from './timeline.ts'
import type { TimelineEntry } from './timeline.ts'
import { orderTimeline } from './purchase.ts'

/** Orders per transaction: a killed process loses about a second's work, and a running shop can write in between. */
const batchSize = 100
const spanMs = 365 * dayMs
const ordersPerAccount = 4

const outcomes: readonly (readonly [OrderStatus, number])[] = [
  ['completed', 0.84],
  ['processing', 0.04],
  ['refunded', 0.04],
  ['failed', 0.04],
  ['cancelled', 0.04]
]
const sources = [null, null, 'newsletter', 'search', 'social'] as const

/** The ids of products without and with benefits, the affiliate codes, and the password hash of generated accounts. */
type Assortment = { plain: number[]; withBenefits: number[]; refs: string[]; passwordHash: string }

/**
 * Generates orders over the past year until the shop has `wanted` of them, by the shop's own rules. The same order number
 * always produces the same order. Each batch is one transaction; after an interruption, the next run continues there.
 *
 * @param tell receives the number of orders after each batch
 * @throws AppError CONFLICT when no product without counted stock is for sale
 */
export async function generateOrders(
  app: App,
  wanted: number,
  now: number,
  tell: (done: number) => void
): Promise<void> {
  const before = countOrders(app.db)
  if (before >= wanted) return
  const assortment = { ...assortmentOf(app.db, now), passwordHash: await app.passwords.hash(demoPassword) }
  for (let first = before; first < wanted; first += batchSize) {
    const numbers = Array.from({ length: Math.min(batchSize, wanted - first) }, (_, offset) => first + offset)
    const entries = numbers.flatMap((number) => timelineOf(number, wanted, assortment, now))
    write(app.db, (tx) => replay(tx, entries))
    tell(first + numbers.length)
  }
}

/** Only products without counted stock, so that generated orders do not sell the shop out. */
function assortmentOf(db: Db, now: number): Omit<Assortment, 'passwordHash'> {
  const condition = and(eq(products.published, true), isNull(products.stock))
  const found = db.orm.select({ id: products.id }).from(products).where(condition).orderBy(products.id).all()
  const sellable = found.flatMap(({ id }) => {
    const item = findSellable(db, id, null, publicPrices(now - spanMs))
    return typeof item === 'string' || item.stock !== null ? [] : [item]
  })
  const idsOf = (items: typeof sellable): number[] => items.map(({ product }) => product.id)
  const plain = idsOf(sellable.filter(({ grants }) => grants.length === 0))
  if (plain.length === 0)
    throw new AppError('CONFLICT', 'No product without counted stock is for sale: run "shopstead seed --demo" first.')
  return {
    plain,
    withBenefits: idsOf(sellable.filter(({ grants }) => grants.length > 0)),
    refs: [...listAffiliates(db, { status: 'active' }, ({ code }) => code)]
  }
}

function timelineOf(number: number, wanted: number, assortment: Assortment, now: number): TimelineEntry[] {
  const random = seededRandom(number)
  const at = Math.round(now - spanMs + (spanMs * number) / wanted)
  const outcome = { state: random.weighted(outcomes), by: 'seed' }
  return orderTimeline((tx) => purchaseOf(tx, number, random, assortment, at), outcome, at, now)
}

function purchaseOf(tx: Tx, number: number, random: Random, assortment: Assortment, at: number) {
  const user = random.chance(0.75) ? accountOf(tx, number, assortment, at) : null
  const choice =
    user !== null && random.chance(0.1) && assortment.withBenefits.length > 0
      ? assortment.withBenefits
      : assortment.plain
  const items = Array.from({ length: random.upTo(3) }, () => ({
    productId: random.oneOf(choice),
    variationId: undefined,
    quantity: random.upTo(3)
  }))
  const byRef = assortment.refs.length > 0 && random.chance(0.3)
  return {
    userId: user?.id ?? null,
    email: user?.email ?? `guest-${number}@orders.example`,
    contact: { firstName: 'Buyer', lastName: String(number) },
    billingAddress: null,
    notes: null,
    items,
    couponCodes: [],
    query: checkoutQuery.parse({
      ref: byRef ? random.oneOf(assortment.refs) : undefined,
      utm_source: random.oneOf(sources) ?? undefined
    })
  }
}

/** One of the accounts that exist at that order number, created at its first order, with the demo password. */
function accountOf(tx: Tx, number: number, { passwordHash }: Assortment, at: number): UserRow {
  const account = seededRandom(number).upTo(Math.floor(number / ordersPerAccount) + 1)
  const email = `buyer-${account}@orders.example`
  const known = findUserByEmail(tx, email)
  if (known !== undefined) return known
  const consent = { marketingOptIn: account % 3 === 0, termsAcceptedAt: at, privacyAcceptedAt: null }
  return createUser(tx, { email, displayName: `Buyer ${account}`, passwordHash, verified: true, ...consent }, at)
}
