import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { formatMoney, toMinor } from '../platform/money.ts'
import { exportBenefits } from '../shop/benefits/plans.ts'
import { exportCatalog } from '../shop/catalog/export-catalog.ts'
import { getProduct, listProducts, setPublished, toProduct } from '../shop/catalog/products.ts'
import type { ProductView } from '../shop/catalog/products.ts'
import { viewTerms } from '../shop/catalog/public/terms.ts'
import { setting } from '../shop/settings/settings.ts'
import { importFile } from './import-file.ts'
import { defineImages } from './offer-images.ts'
import type { Answer } from './output.ts'
import { table } from './table.ts'
import { whileShowing } from './progress.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('offers').description('the catalogue')
  runs(
    addCommand(group, 'list', 'list all products, including hidden and sold out products', 'offers list'),
    'migrated',
    list
  )
  runs(
    addCommand(group, 'show <slug>', 'show one product, by slug or id', 'offers show mug'),
    'migrated',
    ({ app, now }, slug: string) => show(app, slug, now)
  )
  const command = addCommand(
    group,
    'import <file>',
    'import products from JSON, or from a product CSV export of WooCommerce or Shopify',
    'offers import products.csv --dry-run'
  )
    .option('--dry-run', 'only show what would change')
    .option('--allow-private', 'also fetch pictures from private networks and this machine')
  runs(command, 'migrated', importFile)
  runs(
    addCommand(group, 'export', 'export all products and active coupons as JSON', 'offers export > products.json'),
    'migrated',
    (work) => {
      const { app } = work
      const currency = setting(app.db, 'shop.currency')
      const file = whileShowing(work, 'reading the catalogue', () => ({
        ...exportCatalog(app.db, currency),
        ...exportBenefits(app.db)
      }))
      return { json: file, human: JSON.stringify(file, null, 2) }
    }
  )
  defineImages(group)
  for (const published of [true, false]) {
    const verb = published ? 'publish' : 'unpublish'
    const about = published ? 'offer a product for sale' : 'hide a product from sale; its orders stay'
    runs(addCommand(group, `${verb} <slug>`, about, `offers ${verb} mug`), 'migrated', ({ app, now }, slug: string) => {
      setPublished(app.db, slug, published, now)
      return show(app, slug, now)
    })
  }
}

function list({ app, now }: Work<object>): Answer {
  const offers = listProducts(app.db).map((row) => toProduct(app.db, row, viewTerms(app), now))
  const rows = offers.map((offer) => [
    offer.productId,
    offer.productSlug,
    price(offer),
    stockOf(offer),
    states[offer.state]
  ])
  return { json: { offers }, human: table(['Id', 'Slug', 'Price', 'Stock', 'State'], rows) }
}

function show(app: App, slug: string, now: number): Answer {
  const offer = toProduct(app.db, getProduct(app.db, slug), viewTerms(app), now)
  const variations = offer.variations.map(({ variationId, sku, name, stock, ...prices }) => [
    variationId,
    sku,
    name,
    prices.price,
    prices.salePrice,
    stock
  ])
  const stock = stockOf(offer)
  const human = [
    `${offer.name} (${offer.productSlug}, id ${offer.productId}): ${states[offer.state]}`,
    `${price(offer)}, ${offer.type}, ${stock === null ? 'stock not counted' : `${stock} in stock`}`,
    offer.url,
    `Categories: ${offer.categories.join(', ') || 'none'}. Tags: ${offer.tags.join(', ') || 'none'}.`,
    ...offer.grants.map((grant) => `Grants: ${JSON.stringify(grant)}`)
  ]
  const head = ['Id', 'SKU', 'Variation', 'Price', 'Sale', 'Stock']
  return { json: { offer }, human: variations.length === 0 ? human : [...human, '', table(head, variations)] }
}

const states = { listed: 'on sale', sold_out: 'sold out', unpublished: 'hidden' }

function price({ price: { currency, amount, originalAmount } }: ProductView): string {
  const money = (major: number) => formatMoney(toMinor(major, currency), currency)
  return originalAmount === null ? money(amount) : `${money(amount)} instead of ${money(originalAmount)}`
}

/** The stock of a product, or of all its variations together; null when the stock of one is not counted. */
function stockOf({ stock, variations }: ProductView): number | null {
  if (variations.length === 0) return stock
  const own = variations.flatMap((variation) => variation.stock ?? [])
  if (own.length < variations.length && stock === null) return null
  return own.reduce((sum, units) => sum + units, own.length < variations.length ? (stock ?? 0) : 0)
}
