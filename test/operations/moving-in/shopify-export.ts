import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const orderColumns =
  'Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing Name,Billing Street,Billing Address1,Billing Address2,Billing Company,Billing City,Billing Zip,Billing Province,Billing Country,Billing Phone,Shipping Name,Shipping Street,Shipping Address1,Shipping Address2,Shipping Company,Shipping City,Shipping Zip,Shipping Province,Shipping Country,Shipping Phone,Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance,Employee,Location,Device ID,Id,Tags,Risk Level,Source,Lineitem discount,Tax 1 Name,Tax 1 Value,Tax 2 Name,Tax 2 Value,Phone,Receipt Number'.split(
    ','
  )
const customerColumns =
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags'.split(
    ','
  )
const discountColumns =
  'Name,Value,Value Type,Type,Discount Class,Minimum Purchase Requirements,Combines with Order Discounts,Combines with Product Discounts,Combines with Shipping Discounts,Customer Selection,Context,Times Used In Total,Applies Once Per Customer,Usage Limit Per Code,Status,Start,End'.split(
    ','
  )

type Cells = Readonly<Record<string, string>>

/** A CSV as Shopify writes it. */
export function toShopifyCsv(columns: readonly string[], rows: readonly Cells[]): string {
  const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  for (const row of rows)
    for (const name of Object.keys(row)) if (!columns.includes(name)) throw new Error(`no column ${name}`)
  return [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]
    .map((cells) => cells.map(quoted).join(','))
    .join('\n')
}

export const ada: Cells = {
  'Customer ID': "'7210448301122",
  'First Name': 'Ada',
  'Last Name': 'Möller',
  Email: 'ada@example.com',
  'Accepts Email Marketing': 'yes',
  'Default Address Company': 'Möller, Söhne & Co.',
  'Default Address Address1': 'Am Kai 3',
  'Default Address City': 'Hamburg',
  'Default Address Country Code': 'DE',
  'Default Address Zip': "'20457",
  'Default Address Phone': '+4940123',
  Phone: '+49 40 123',
  'Total Spent': '71.80',
  'Total Orders': '2'
}
export const bo: Cells = {
  'First Name': 'Bo',
  Email: 'bo@example.com',
  'Accepts Email Marketing': 'no',
  'Total Spent': '0.00'
}
const nobody: Cells = { 'First Name': 'Phone', 'Last Name': 'Only', Phone: '+4940999', 'Total Spent': '5.00' }

const toAda: Cells = {
  Email: 'ada@example.com',
  'Billing Name': 'Ada Möller',
  'Billing Address1': 'Am Kai 3',
  'Billing City': 'Hamburg',
  'Billing Zip': "'20457",
  'Billing Country': 'DE',
  'Shipping Name': 'Ada Möller',
  'Shipping Address1': 'Am Kai 3',
  'Shipping City': 'Hamburg',
  'Shipping Zip': "'20457",
  'Shipping Country': 'DE'
}

/** Paid, shipped and partly refunded: two lines and a discount. Prices with tax. */
export const shipped: readonly Cells[] = [
  {
    ...toAda,
    Name: '#1001',
    'Financial Status': 'partially_refunded',
    'Paid at': '2026-01-03 10:15:00 +0100',
    'Fulfillment Status': 'fulfilled',
    Currency: 'EUR',
    Subtotal: '47.00',
    Shipping: '4.90',
    Taxes: '8.29',
    Total: '51.90',
    'Discount Code': 'FALL5',
    'Discount Amount': '5.00',
    'Shipping Method': 'DHL Paket',
    'Created at': '2026-01-03 10:14:00 +0100',
    'Lineitem quantity': '2',
    'Lineitem name': 'Mug - Blue',
    'Lineitem price': '16.00',
    'Lineitem sku': 'MUG-BLUE',
    Notes: 'Please wrap,\n"nicely"',
    'Payment Method': 'Shopify Payments',
    'Payment Reference': 'c123.1',
    'Refunded Amount': '16.00',
    Id: '5550000001',
    'Tax 1 Name': 'MwSt 19%',
    'Tax 1 Value': '8.29'
  },
  {
    Name: '#1001',
    Email: 'ada@example.com',
    'Lineitem quantity': '1',
    'Lineitem name': 'Tote bag',
    'Lineitem price': '20.00'
  }
]
/** Paid and waiting; prices without tax. */
export const waiting: readonly Cells[] = [
  {
    ...toAda,
    Name: '#1002',
    'Financial Status': 'paid',
    'Paid at': '2026-02-01 09:00:00 +0100',
    'Fulfillment Status': 'unfulfilled',
    Currency: 'EUR',
    Subtotal: '16.00',
    Shipping: '0.00',
    Taxes: '3.04',
    Total: '19.04',
    'Discount Amount': '0.00',
    'Created at': '2026-02-01 09:00:00 +0100',
    'Lineitem quantity': '1',
    'Lineitem name': 'Mug - Blue',
    'Lineitem price': '16.00',
    'Lineitem sku': 'MUG-BLUE',
    'Refunded Amount': '0.00',
    Id: '5550000002',
    'Tax 1 Name': 'VAT 19%',
    'Tax 1 Value': '3.04'
  }
]
/** A guest's, cancelled before it was paid. */
const cancelled: readonly Cells[] = [
  {
    Name: '#1003',
    Email: 'guest@example.com',
    'Financial Status': 'voided',
    Currency: 'EUR',
    Subtotal: '20.00',
    Shipping: '0.00',
    Taxes: '0.00',
    Total: '20.00',
    'Created at': '2026-02-02 09:00:00 +0100',
    'Cancelled at': '2026-02-02 10:00:00 +0100',
    'Lineitem quantity': '1',
    'Lineitem name': 'Tote bag',
    'Lineitem price': '20.00',
    'Refunded Amount': '0.00',
    Id: '5550000003'
  }
]

const discounts: readonly Cells[] = [
  {
    Name: 'FALL5',
    Value: '-5.0',
    'Value Type': 'fixed_amount',
    Type: 'Amount Off',
    'Discount Class': 'order',
    'Minimum Purchase Requirements': '30.00',
    'Combines with Order Discounts': 'false',
    'Combines with Product Discounts': 'false',
    'Customer Selection': 'all',
    'Times Used In Total': '7',
    'Applies Once Per Customer': 'true',
    'Usage Limit Per Code': '10',
    Status: 'Active',
    Start: '2025-09-01 00:00:00 +0200'
  },
  {
    Name: 'TEN',
    Value: '-10.0',
    'Value Type': 'percentage',
    Type: 'Amount Off',
    'Discount Class': 'product',
    'Customer Selection': 'all',
    'Times Used In Total': '0',
    Status: 'Active',
    Start: '2025-09-01 00:00:00 +0200',
    End: '2026-12-31 23:59:59 +0100'
  },
  {
    Name: 'SHIPFREE',
    Value: '-100.0',
    'Value Type': 'percentage',
    Type: 'Free Shipping',
    'Discount Class': 'shipping',
    'Times Used In Total': '3',
    Status: 'Active'
  }
]

export const shopifyCsv = {
  customers: (rows: readonly Cells[] = [ada, bo, nobody]) => toShopifyCsv(customerColumns, rows),
  orders: (rows: readonly Cells[] = [...shipped, ...waiting, ...cancelled]) => toShopifyCsv(orderColumns, rows),
  discounts: () => toShopifyCsv(discountColumns, discounts),
  redirects: () => 'Redirect from,Redirect to\n/old-mug,/products/mug\n/about-us,https://blog.example.com/about\n',
  giftCards: () =>
    'Id,Last Characters,Customer Name,Email,Order Name,Created At,Expires On,Initial Balance,Current Balance,Currency,Expired?,Enabled?,Disabled At\n1,x7f3,Ada,ada@example.com,#1001,2026-01-03,,50.00,20.00,EUR,false,true,\n'
}

/** A folder with the exports of a Shopify shop. */
export function writeShopifyExports(folder: string): string {
  const exports = join(folder, 'exports')
  mkdirSync(exports)
  writeFileSync(join(exports, 'customers_export.csv'), shopifyCsv.customers())
  writeFileSync(join(exports, 'orders_export_1.csv'), shopifyCsv.orders())
  writeFileSync(join(exports, 'discounts_export.csv'), shopifyCsv.discounts())
  writeFileSync(join(exports, 'redirects_export.csv'), shopifyCsv.redirects())
  writeFileSync(join(exports, 'gift_cards_export.csv'), shopifyCsv.giftCards())
  return exports
}
