import type { ShopCommand, Work } from '../run.ts'
import { convertCurrency, parseConversion } from '../../operations/convert-currency.ts'
import { AppError } from '../../errors.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import type { ProductOption } from '../../shop/catalog/grants.ts'
import { addProduct, editProduct } from '../../shop/catalog/manage/edit-product.ts'
import type { Edited, NewProduct, ProductEdit, ProductFields } from '../../shop/catalog/manage/edit-product.ts'
import { parseRepricing, planRepricing, reprice } from '../../shop/catalog/manage/reprice.ts'
import type { PriceChange } from '../../shop/catalog/manage/reprice.ts'
import { toProduct } from '../../shop/catalog/products.ts'
import { taxClasses } from '../../shop/tax/input.ts'
import { viewTerms } from '../../shop/catalog/public/categories.ts'
import { setting } from '../../shop/settings/settings.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import { collect, countOf, orNone } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { describeFields, toJson } from './field-changes.ts'
import { allowPrivate, connections } from './offer-images.ts'
import { table } from '../terminal/table.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'

type FieldOptions = {
  name?: string
  price?: string
  salePrice?: string
  saleStart?: string
  saleEnd?: string
  stock?: string
  description?: string
  category?: string[]
  tag?: string[]
  weight?: string
  cost?: string
  taxClass?: string
  brand?: string
  manufacturer?: string
  responsible?: string
  safety?: string
  gtin?: string
  mpn?: string
  unit?: string
}
type SetOptions = FieldOptions & { stockAdd?: string; sku?: string[] }
type AddOptions = FieldOptions & {
  name: string
  price: string
  slug?: string
  type?: string
  hidden?: boolean
  option?: string[]
  image?: string[]
  allowPrivate?: boolean
}
type ConvertOptions = { rate: string; round?: string; yes?: boolean }
type RepriceOptions = { percent: string; category?: string; round?: string; yes?: boolean; dryRun?: boolean }

/** Adds the commands that change products one by one, and all prices at once. */
export function defineEdits(offers: ShopCommand): void {
  const adding = addCommand(
    offers,
    'add',
    'add a product, with its variations and pictures',
    'offers add --name "Gansey" --price 89 --option Size=S,M,L --stock S=3,M=5 --image front.jpg back.jpg'
  )
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--price <amount>', "its price, in the shop's currency")
    .option('--slug <slug>', 'its key in addresses (default: made from the name)')
    .option('--type <type>', 'physical, digital or gift_card (default: physical)')
    .option('--hidden', 'do not offer it for sale yet')
    .option('--option <name=values>', 'an option with its values, such as Size=S,M,L; can be repeated', collect)
    .option('--image <source...>', 'its pictures, from files or URLs')
    .option(...allowPrivate)
  runs(withFields(adding), async ({ app, options, now }: Work<AddOptions>) => {
    const { slug, type, hidden, name, price, salePrice, stock, image } = options
    const chosen = { options: options.option?.map(parseOption), images: image }
    const units =
      stock?.includes('=') === true ? { stocks: parseStocks(stock) } : { stock: numberOrText(orNone(stock)) }
    const sale = { salePrice: orNone(salePrice), ...units, ...chosen }
    const product: NewProduct = { ...fieldsOf(options), name, price, ...sale, slug, type, published: hidden !== true }
    const added = await addProduct(app, product, now, connections(options))
    return answer({ app, now }, added, [`Added ${added.row.slug}, id ${added.row.id}.`])
  })
  const setting = addCommand(
    offers,
    'set <slug>',
    'change fields of a product; the stock changes only by --stock and --stock-add',
    'offers set mug --price 13.50 --stock-add 20'
  )
    .option('--name <name>', 'its name')
    .option('--price <amount>', "its price, in the shop's currency")
    .option('--stock-add <n>', 'add units to the stock; negative to remove')
    .option(
      '--sku <sku>',
      'the variation that --price, --stock, --weight, --gtin, --mpn and --unit change; can be repeated',
      collect
    )
  runs(withFields(setting), ({ app, options, now }: Work<SetOptions>, slug: string) => {
    const edit = editOf(options)
    if (Object.values(edit).every((value) => value === undefined))
      throw new AppError('USAGE', 'Pass what changes, such as --price 12.50. "offers set --help" lists the fields.')
    const edited = editProduct(app, slug, edit, now)
    return answer({ app, now }, edited, edited.changes.length === 0 ? ['Nothing changed.'] : [])
  })
  const repricing = addCommand(
    offers,
    'reprice',
    'change all prices, or those of a category, by a percentage; sale prices too',
    'offers reprice --percent 5 --category light --round 0.05'
  )
    .requiredOption('--percent <n>', 'such as 5, or -10 for lower prices')
    .option('--category <category>', 'only products of this category, by slug or name')
    .option('--round <amount>', 'round to a multiple of this amount, such as 0.05')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation')
  runs(repricing, changePrices)
  const converting = addCommand(
    offers,
    'convert <currency>',
    "change the shop's currency, and convert all prices, coupons and shipping; not once there is an order",
    'offers convert USD --rate 1.08 --round 0.10'
  )
    .requiredOption('--rate <n>', 'what one unit of the present currency is worth in the new one')
    .option('--round <amount>', 'round to a multiple of this amount of the new currency, such as 0.10')
    .option('--yes', 'do not ask for confirmation')
  runs(converting, convertPrices)
}

/** `Size=S,M,L`. @throws AppError USAGE */
function parseOption(text: string): ProductOption {
  const [name = '', list, ...rest] = text.split('=')
  const values = (list ?? '').split(',').map((value) => value.trim())
  const isGiven = name.trim() !== '' && rest.length === 0 && values.every((value) => value !== '')
  if (!isGiven || new Set(values).size < values.length)
    throw new AppError('USAGE', '--option takes NAME=VALUE,VALUE with different values, such as Size=S,M,L.')
  return { name: name.trim(), values }
}

/** `S=3,M=5`, or `S/Red=3` with two options. @throws AppError USAGE */
function parseStocks(text: string): Map<string, number> {
  const pairs = text.split(',').map((part) => /^([^=]+)=(\d{1,9})$/.exec(part.trim()))
  const stocks = new Map(
    pairs.flatMap((found) => (found === null ? [] : [[found[1] ?? '', Number(found[2])] as const]))
  )
  if (stocks.size === pairs.length) return stocks
  throw new AppError('USAGE', '--stock takes a number, or VALUE=UNITS such as S=3,M=5 (S/Red=3 with two options).')
}

function withFields(command: ShopCommand): ShopCommand {
  return command
    .option('--sale-price <amount>', 'its price during a sale; none ends the sale')
    .option('--sale-start <time>', 'start of the sale: its first day, or an ISO 8601 time; none for no start')
    .option('--sale-end <time>', 'end of the sale: its last day, or an ISO 8601 time; none for no end')
    .option('--cost <amount>', 'what the shop pays for a unit without tax, for the margin; none if unknown')
    .option('--stock <n>', 'units in stock; none if they are not counted')
    .option('--description <text>', 'its description')
    .option('--category <name>', 'a category, or a path such as "Light > Lamps"; can be repeated', collect)
    .option('--tag <tag>', 'a tag; can be repeated', collect)
    .option('--weight <grams>', 'weight of a unit with its packaging; none if unknown')
    .option('--brand <name>', 'its brand; none if it has none')
    .option('--manufacturer <text>', 'name and addresses of its manufacturer (product safety); none if unknown')
    .option(
      '--responsible <text>',
      'who is responsible for it in the EU, if the manufacturer is elsewhere; none for none'
    )
    .option('--safety <text>', 'its warnings and safety information; none for none')
    .option('--gtin <code>', 'its GTIN, EAN, UPC or ISBN; none if it has none')
    .option('--mpn <number>', 'the number that its maker gave it; none if it has none')
    .option('--unit <amount>', 'how much a unit contains, such as "750 ml", for the price per litre; none to show none')
    .option('--tax-class <class>', `its rate of tax: ${taxClasses.join(', ')}`)
}

function fieldsOf(options: FieldOptions): ProductFields {
  const { name, description, category, tag, weight, taxClass, cost, saleStart, saleEnd } = options
  const { brand, gtin, mpn, unit, manufacturer, responsible, safety } = options
  return {
    name,
    cost: orNone(cost),
    description,
    categories: category,
    tags: tag,
    weightGrams: numberOrText(orNone(weight)),
    brand: orNone(brand),
    manufacturer: orNone(manufacturer),
    responsiblePerson: orNone(responsible),
    safetyInfo: orNone(safety),
    gtin: orNone(gtin),
    mpn: orNone(mpn),
    unitMeasure: orNone(unit),
    taxClass,
    saleStart: orNone(saleStart),
    saleEnd: orNone(saleEnd)
  }
}

function editOf(options: SetOptions): ProductEdit {
  const { price, salePrice, stock, stockAdd, sku } = options
  const units = stockAdd === undefined ? undefined : /^[+-]?\d{1,9}$/.test(stockAdd) ? Number(stockAdd) : null
  if (units === null) throw new AppError('USAGE', '--stock-add must be a whole number such as 5 or -2.')
  const sale = { price, salePrice: orNone(salePrice), stock: numberOrText(orNone(stock)), stockAdd: units, skus: sku }
  return { ...fieldsOf(options), ...sale }
}

function answer({ app, now }: Pick<Work<object>, 'app' | 'now'>, { row, changes }: Edited, lines: string[]): Answer {
  const currency = setting(app.db, 'shop.currency')
  return {
    json: {
      offer: toProduct(app.db, row, viewTerms(app), now),
      changes: toJson(changes)
    },
    human: [...lines, ...describeFields(changes, currency)]
  }
}

async function changePrices({ app, options, now, terminal }: Work<RepriceOptions>): Promise<Answer> {
  const currency = setting(app.db, 'shop.currency')
  const { percent, round, category } = options
  const repricing = { ...parseRepricing(percent, round, currency), category }
  const plan = planRepricing(app.db, repricing)
  if (plan.length === 0) return { json: { changed: [] }, human: 'No price changes.' }
  if (options.dryRun === true) return priceAnswer(plan, currency, 'Nothing was changed: this was a dry run.')
  await confirmOrRefuse(terminal, question(plan, currency), options)
  const changes = reprice(app.db, repricing, now)
  return priceAnswer(changes, currency, `${countOf(changes.length, 'price')} changed.`)
}

async function convertPrices(work: Work<ConvertOptions>, text: string): Promise<Answer> {
  const { app, options, now, terminal } = work
  const conversion = parseConversion(text.toUpperCase(), options.rate, options.round)
  const from = setting(app.db, 'shop.currency')
  const { currency } = conversion
  await confirmOrRefuse(terminal, `Convert all prices from ${from} to ${currency} at ${options.rate}?`, options)
  const converted = convertCurrency(app.db, conversion, now)
  return {
    json: { from, currency, converted },
    human: `The currency is ${currency}. Converted: ${countOf(converted.products, 'product')}, ${countOf(converted.coupons, 'coupon')}, ${countOf(converted.shippingMethods, 'shipping method')}.`
  }
}

function question(plan: readonly PriceChange[], currency: string): string {
  const money = (minor: number): string => formatMoney(minor, currency)
  const examples = plan
    .slice(0, 3)
    .map(({ slug, fromMinor, toMinor }) => `${slug} ${money(fromMinor)} → ${money(toMinor)}`)
  return `Change ${countOf(plan.length, 'price')}, such as ${examples.join(', ')}?`
}

function priceAnswer(changes: readonly PriceChange[], currency: string, last: string): Answer {
  const rows = changes.map(({ slug, sku, field, fromMinor, toMinor }) => {
    const amounts = [formatMoney(fromMinor, currency), formatMoney(toMinor, currency)]
    return [slug, sku ?? '', field === 'price' ? 'price' : 'sale price', ...amounts]
  })
  return {
    json: {
      changed: changes.map(({ fromMinor, toMinor, ...change }) => ({
        ...change,
        from: toMajor(fromMinor, currency),
        to: toMajor(toMinor, currency)
      }))
    },
    human: [table(['Product', 'SKU', 'Field', 'From', 'To'], rows), last]
  }
}
