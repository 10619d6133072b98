import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { formatMoney, toMinor } from '../../platform/money.ts'
import { exportBenefits } from '../../shop/benefits/plans.ts'
import { exportCatalog } from '../../shop/catalog/export-catalog.ts'
import { listProducts } from '../../shop/catalog/manage/list-products.ts'
import { getProduct, setPublished, toBrief, toProduct } from '../../shop/catalog/products.ts'
import type { ProductView } from '../../shop/catalog/products.ts'
import { renameProduct } from '../../shop/redirects/rename-product.ts'
import { viewTerms } from '../../shop/catalog/public/categories.ts'
import { setting } from '../../shop/settings/settings.ts'
import { exportShipping } from '../../shop/shipping/zones.ts'
import { listTaxRates } from '../../shop/tax/rates.ts'
import { defineImport } from './import-file.ts'
import { defineEdits } from './offer-edits.ts'
import { defineImages } from './offer-images.ts'
import { JsonList, moreLines, whileShowing } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import type { Cell, Table } from '../terminal/table.ts'
import { parseLimit } from '../terminal/arguments.ts'
import { addCommand, runs } from '../run.ts'

type ListOptions = { search?: string; category?: string; limit?: string; cursor?: string }

export function define(program: ShopCommand): void {
  const group = program.command('offers').description('the catalog')
  const listing = addCommand(
    group,
    'list',
    'list all products, including hidden and sold out products',
    'offers list --search lantern --category light'
  )
    .option('--search <text>', 'only products with this in their name, slug or a SKU')
    .option('--category <category>', 'only products of this category, by slug or name')
    .option('--limit <n>', 'maximum number')
    .option('--cursor <cursor>', 'continue after an earlier page, from its nextCursor')
  runs(listing, list)
  runs(
    addCommand(group, 'show <slug>', 'show one product, by slug or id', 'offers show mug'),
    ({ app, now }, slug: string) => show(app, slug, now)
  )
  defineEdits(group)
  const about = 'give a product another slug; its old address leads to the new one'
  runs(
    addCommand(group, 'rename <slug> <new-slug>', about, 'offers rename mug enamel-mug'),
    ({ app, now }, slug: string, newSlug: string) => show(app, renameProduct(app, slug, newSlug, now).slug, now)
  )
  defineImport(group)
  runs(
    addCommand(group, 'export', 'export all products and active coupons as JSON', 'offers export > products.json'),
    (work) => {
      const { app } = work
      const currency = setting(app.db, 'shop.currency')
      const file = whileShowing(work, 'reading the catalog', () => ({
        ...exportCatalog(app.db, currency),
        ...exportBenefits(app.db),
        shipping: exportShipping(app.db, currency),
        tax: listTaxRates(app.db)
      }))
      return { json: file, human: JSON.stringify(file, null, 2) }
    }
  )
  defineImages(group)
  for (const published of [true, false]) {
    const verb = published ? 'publish' : 'unpublish'
    const about = published ? 'offer a product for sale' : 'hide a product from sale; its orders stay'
    runs(addCommand(group, `${verb} <slug>`, about, `offers ${verb} mug`), ({ app, now }, slug: string) => {
      setPublished(app.db, slug, published, now)
      return show(app, slug, now)
    })
  }
}

function list({ app, options, now, json }: Work<ListOptions>): Answer {
  const { db } = app
  const limit = options.limit === undefined ? undefined : parseLimit(options.limit)
  const filter = { ...options, limit }
  const terms = viewTerms(app)
  if (json) {
    const { rows, nextCursor } = listProducts(db, filter, (row) => toProduct(db, row, terms, now))
    return { json: new JsonList('offers', rows, () => ({ nextCursor })), human: [] }
  }
  const { rows, nextCursor } = listProducts(db, filter, (row) => {
    const brief = toBrief(db, row, terms, now)
    return [row.id, row.slug, row.name, price(brief), brief.stock, states[brief.state]]
  })
  return {
    json: {},
    human: [table(['Id', 'Slug', 'Name', 'Price', 'Stock', 'State'], rows), ...moreLines(nextCursor)]
  }
}

function show(app: App, slug: string, now: number): Answer {
  const row = getProduct(app.db, slug)
  const terms = viewTerms(app)
  const offer = toProduct(app.db, row, terms, now)
  const { currency } = offer.price
  const money = (major: number): string => formatMoney(toMinor(major, currency), currency)
  const areCoded = offer.variations.some(({ gtin, mpn }) => gtin !== null || mpn !== null)
  const variations = offer.variations.map(({ variationId, sku, name, stock, gtin, mpn, ...prices }) => [
    variationId,
    sku,
    name,
    money(prices.price),
    prices.salePrice === null ? null : money(prices.salePrice),
    stock,
    ...(areCoded ? [gtin, mpn] : [])
  ])
  const { brand, gtin, mpn, unitMeasure, manufacturer, responsiblePerson, safetyInfo } = offer
  const safety = { Manufacturer: manufacturer, 'Responsible in the EU': responsiblePerson, Safety: safetyInfo }
  const facts = Object.entries({ Brand: brand, GTIN: gtin, MPN: mpn, 'A unit contains': unitMeasure, ...safety })
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value.replace(/\.$/, '')}.`]))
  const { stock } = toBrief(app.db, row, terms, now)
  const human = [
    `${offer.name} (${offer.productSlug}, id ${offer.productId}): ${states[offer.state]}`,
    `${price(offer)}, ${offer.type}, ${stock === null ? 'stock not counted' : `${stock} in stock`}`,
    offer.url,
    ...(offer.cost === null ? [] : [`Costs the shop ${money(offer.cost)} without tax.`]),
    ...(known.length === 0 ? [] : [known.join(' ')]),
    `Categories: ${offer.categories.join(', ') || 'none'}. Tags: ${offer.tags.join(', ') || 'none'}.`,
    ...offer.grants.map((grant) => `Grants: ${JSON.stringify(grant)}`)
  ]
  const head = ['Id', 'SKU', 'Variation', 'Price', 'Sale', 'Stock', ...(areCoded ? ['GTIN', 'MPN'] : [])]
  if (variations.length === 0) return { json: { offer }, human }
  return { json: { offer }, human: [...human, '', table(head, variations), ...stockGrid(offer)] }
}

/** The stock by the values of the options: the first one down, the others across. */
function stockGrid({ options, variations }: ProductView): (string | Table)[] {
  const [down, ...across] = options
  if (down === undefined) return []
  let columns: string[][] = [[]]
  for (const { values } of across) columns = columns.flatMap((column) => values.map((value) => [...column, value]))
  const stockAt = (values: readonly string[]): Cell => {
    const found = variations.find((each) => options.every(({ name }, index) => each.options[name] === values[index]))
    return found === undefined ? '' : found.stock
  }
  if (across.length === 0) {
    const stocks = down.values.map((value) => stockAt([value]))
    return ['', table([down.name, ...down.values], [['Stock', ...stocks]])]
  }
  const rows = down.values.map((value) => [value, ...columns.map((column) => stockAt([value, ...column]))])
  const head = [`Stock by ${down.name}`, ...columns.map((column) => column.join(' / '))]
  return ['', table(head, rows)]
}

const states = { listed: 'on sale', sold_out: 'sold out', unpublished: 'hidden' }

function price({ price: { currency, amount, originalAmount } }: Pick<ProductView, 'price'>): string {
  const money = (major: number) => formatMoney(toMinor(major, currency), currency)
  return originalAmount === null ? money(amount) : `${money(amount)} instead of ${money(originalAmount)}`
}
