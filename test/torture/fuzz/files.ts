import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../random.ts'
import { corruptBytes } from './api-requests.ts'
import { corruptJson, toJson, writeJson } from './json.ts'
import { numbers, oddText } from './odd-values.ts'

export const formats = ['JSON', "WooCommerce's CSV", "Shopify's CSV"] as const
export type Format = (typeof formats)[number]

/** A file in a format, mostly with faults. */
export function fileFor(format: Format, random: Random): Buffer {
  const bytes = format === 'JSON' ? jsonFile(random) : Buffer.from(csvFile(format, random))
  return random.oneIn(8) ? corruptBytes(bytes, random) : bytes
}

const example = readFileSync(join(import.meta.dirname, '..', '..', '..', 'seeds', 'offers.example.json'), 'utf8')

/** A small catalog with every kind of entry. */
const catalog = {
  ...(JSON.parse(example) as { products: object[] }),
  coupons: [
    {
      code: 'TEN',
      percent: 10,
      startsAt: '2026-01-01T00:00:00Z',
      endsAt: '2027-01-01',
      maxUses: 3,
      products: ['oak-candlestick']
    },
    { code: 'FIVE', amount: '5.00', minTotal: 20, maxUsesPerCustomer: 1, categories: ['Home'] }
  ],
  affiliates: [{ code: 'mira', user: 'mira@shop.example', status: 'active', rate: 12.5 }]
}

const shirt = {
  slug: 'shirt',
  name: 'Shirt',
  price: 20,
  saleStart: '2026-01-01',
  saleEnd: '2026-12-31T12:00:00+01:00',
  position: 3,
  published: false,
  url: 'https://shop.example/shirt',
  variations: [
    { sku: 'S', name: 'Small', price: '20', salePrice: '15.50', stock: 1, default: true },
    { sku: 'L', name: 'Large', price: 21 }
  ]
}

const offers = {
  data: {
    offers: [
      {
        offerId: 'offer-3',
        productId: 3,
        productSlug: 'mug',
        name: 'Mug',
        url: 'https://shop.example/mug',
        price: { currency: 'EUR', amount: 12.5, originalAmount: null },
        categories: ['Kitchen'],
        tags: []
      }
    ]
  },
  meta: {}
}

function jsonFile(random: Random): Buffer {
  const [first, second] = catalog.products
  const file = random.pick<object>([
    { ...catalog, products: [shirt, random.pick(catalog.products)] },
    { ...catalog, products: [shirt, first] },
    [shirt, second],
    { products: [shirt] },
    offers
  ])
  let json = toJson(structuredClone(file))
  const times = random.pick([0, 1, 1, 1, 1, 2, 2, 4])
  for (let time = 0; time < times; time += 1) json = corruptJson(json, random)
  return Buffer.from(writeJson(json))
}

type Rows = Readonly<Record<string, string>>[]

const woocommerce: Rows = [
  {
    ID: '1',
    Type: 'simple',
    SKU: 'cup',
    Name: 'Cup',
    Published: '1',
    'Visibility in catalog': 'visible',
    'In stock?': '1',
    Stock: '4',
    'Sale price': '15',
    'Regular price': '18',
    Categories: 'Kitchen > Cups, Gifts',
    Tags: 'blue, tin',
    Description: '<p>Holds &frac12; litre.</p>',
    'Date sale price starts': '2026-01-01',
    Position: '0'
  },
  {
    ID: '44',
    Type: 'variable',
    SKU: 'shirt',
    Name: 'Shirt',
    Published: '1',
    'In stock?': '1',
    'Attribute 1 name': 'Color',
    'Attribute 1 value(s)': 'Red, Blue',
    'Attribute 1 default': 'Red',
    Position: '1'
  },
  {
    ID: '45',
    Type: 'variation',
    SKU: 'shirt-red',
    Name: 'Shirt - Red',
    Published: '1',
    'In stock?': '1',
    'Regular price': '20',
    Parent: 'shirt',
    'Attribute 1 name': 'Color',
    'Attribute 1 value(s)': 'Red',
    Position: '1'
  },
  {
    ID: '46',
    Type: 'variation',
    SKU: '',
    Name: 'Shirt - Blue',
    Published: '1',
    'In stock?': '0',
    Stock: '0',
    'Regular price': '21',
    Parent: 'id:44',
    'Attribute 1 name': 'Color',
    'Attribute 1 value(s)': 'Blue',
    Position: '2'
  },
  {
    ID: '47',
    Type: 'simple, downloadable, virtual',
    SKU: 'plan',
    Name: 'Plan',
    Published: '0',
    'In stock?': '1',
    'Regular price': '3.5',
    'Download 1 name': 'Plan',
    'Download 1 URL': 'https://shop.example/files/plan.pdf',
    'Download expiry days': '30',
    'Tax status': 'taxable',
    Images: 'https://shop.example/plan.png',
    'Meta: _note': 'x'
  }
]

const shopify: Rows = [
  {
    Handle: 'blue-cup',
    Title: 'Blue Cup',
    'Body (HTML)': '<p>Holds &frac12; litre.</p>',
    Vendor: 'Tin',
    Tags: 'blue, tin',
    Published: 'true',
    'Option1 Name': 'Title',
    'Option1 Value': 'Default Title',
    'Variant SKU': 'cup',
    'Variant Inventory Tracker': 'shopify',
    'Variant Inventory Qty': '4',
    'Variant Inventory Policy': 'deny',
    'Variant Price': '12.50',
    'Variant Compare At Price': '15',
    'Variant Requires Shipping': 'true',
    'Gift Card': 'false',
    Status: 'active'
  },
  {
    Handle: 'shirt',
    Title: 'Shirt',
    'Option1 Name': 'Size',
    'Option1 Value': 'Small',
    'Option2 Name': 'Color',
    'Option2 Value': 'Red',
    'Variant Price': '20',
    'Variant Requires Shipping': 'true',
    Published: 'true',
    Status: 'draft'
  },
  {
    Handle: 'shirt',
    'Option1 Value': 'Large',
    'Option2 Value': 'Red',
    'Variant Price': '21',
    'Variant Inventory Qty': '-2',
    'Variant Inventory Tracker': 'shopify',
    'Variant Requires Shipping': 'true'
  },
  { Handle: 'shirt', 'Image Src': 'https://shop.example/shirt.png' },
  {
    Handle: 'plan',
    Title: 'Plan',
    'Option1 Name': 'Title',
    'Option1 Value': 'Default Title',
    'Variant Price': '3',
    'Variant Requires Shipping': 'false',
    'Gift Card': 'true',
    Status: 'archived',
    'Price / International': '9'
  }
]

function csvFile(format: Format, random: Random): string {
  const rows = format === "Shopify's CSV" ? shopify : woocommerce
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const table = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))].map((cells) => [...cells])
  const times = random.pick([0, 1, 1, 2, 3, 6])
  for (let time = 0; time < times; time += 1) corruptTable(table, random)
  const delimiter = random.oneIn(20) ? random.pick([';', '\t', '|', '']) : ','
  const end = random.oneIn(10) ? random.pick(['\r\n', '\r', '\n\n', '']) : '\n'
  const text = table.map((cells) => cells.map((cell) => quoted(cell, random)).join(delimiter)).join(end)
  return random.oneIn(10) ? `\uFEFF${text}` : text
}

function corruptTable(table: string[][], random: Random): void {
  const [names, ...rows] = table
  if (names === undefined) return
  const row = rows.length === 0 || random.oneIn(6) ? names : random.pick(rows)
  const at = random.between(0, Math.max(0, row.length - 1))
  const odd = (): string =>
    random.pick<() => string>([() => oddText(random), () => random.pick(numbers), () => random.pick(cells)])()
  random.pick<() => void>([
    () => void (row[at] = odd()),
    () => void (row[at] = odd()),
    () => void (row[at] = odd()),
    () => void (row[at] = ''),
    () => void row.splice(at, 1),
    () => void row.splice(at, 0, odd()),
    () => void row.push(row[at] ?? ''),
    () => void table.push([...row]),
    () => void table.splice(table.indexOf(row), 1),
    () => void table.reverse(),
    () => table.forEach((cells) => void cells.splice(at, 1)),
    () => void table.push([])
  ])()
}

const cells: readonly string[] = [
  '1',
  '0',
  '-1',
  'true',
  'yes',
  'id:44',
  'id:',
  'shirt',
  'shirt-red',
  'Red',
  'Red, Blue',
  'a > b > c',
  '1,5',
  '1.234,50',
  '€5',
  '12.505',
  '12.5 EUR',
  '<p>&#0;&#x110000;&unknown;<script',
  '&',
  '"',
  '"",',
  '\n',
  'a\\, b',
  'variable',
  'variation',
  'grouped',
  'external',
  'active',
  'draft',
  'Default Title',
  '2026-13-01',
  '=1+1',
  '@x',
  '-2'
]

function quoted(cell: string, random: Random): string {
  if (random.oneIn(150)) return `"${cell}`
  return /[",\n\r;|\t]/.test(cell) && !random.oneIn(40) ? `"${cell.replaceAll('"', '""')}"` : cell
}
