import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** What an import must arrive at, as the plugins of the old shop say it. Money is text, times are UTC. */
export type Expected = {
  sql: {
    eddOrders: { type: string; status: string; gateway: string; n: string; total: string; tax: string }[]
    affiliatesManagerSums: { affiliateId: string; type: string; amount: string }[]
    sumsByCurrencyStatusMonth: {
      type: string
      currency: string
      status: string
      month: string
      n: string
      total: string
    }[]
    stockPerSku: { sku: string; quantity: string | null; manages: string; status: string }[]
    coupons: { code: string; amount: string; uses: string }[]
    hashes: { kind: string; n: string }[]
    users: { n: string }[]
    affiliateBalances?: { affiliate_id: string; status: string; n: string; amount: string }[]
    affiliatePayouts?: { affiliate_id: string; n: string; amount: string }[]
    affiliateVisits?: { affiliate_id: string; n: string }[]
  }
  affiliates: {
    id: number
    userId: number
    status: string
    rate: string
    rateType: string
    unpaid: string
    paid: string
    visits: number
    referrals: { paid: number; unpaid: number; pending: number; rejected: number }
  }[]
  subscriptions: {
    id: number
    status: string
    total: string
    period: string
    nextPaymentGmt: string
    endGmt: string | number
    lines: { quantity: number }[]
  }[]
  downloads: {
    permission_id: string
    order_id: string
    user_id: string
    downloads_remaining: string
    access_expires: string | null
  }[]
  memberships: { id: number; userId: number; plan: string; status: string; startGmt: string; endGmt: string | null }[]
  orders: {
    id: number
    number: string
    status: string
    currency: string
    pricesIncludeTax: boolean
    total: string
    tax: string
    shipping: string
    shippingTax: string
    discount: string
    refunded: string
    customerId: number
    email: string
    createdGmt: string
    paidGmt: string | null
    paymentTitle: string
    transactionId: string
    lines: { name: string; quantity: number; total: string; tax: string; productExists: boolean }[]
    fees: { name: string; total: string; tax: string }[]
    taxes: { label: string; percent: number; tax: string; shippingTax: string }[]
    coupons: { code: string }[]
    refunds: { amount: string; reason: string; createdGmt: string }[]
    notes: { toCustomer: number; private: number }
    attribution: { type?: string; source?: string; campaign?: string } | []
  }[]
  permalinks: { path: string; kind: string; slug: string; id: number }[]
  logins: { userId: number; email: string; password: string; setAs?: string }[]
  customers: {
    id: number
    login: string
    email: string
    name: string
    roles: string[]
    registeredGmt: string
    billing: Record<string, string> | []
    shipping: Record<string, string> | []
  }[]
  products: {
    id: number
    type: string
    parent: number
    status: string
    name: string
    slug: string
    sku: string
    regularPrice: string
    taxStatus: string
    /** Products with variations have none of their own. */
    taxClass?: string
    stockManagedBy: number
    stock: number | null
    stockStatus: string
    backorders: string
    weight?: string
    downloads: number
    categories: string[]
    visibility: string
  }[]
  coupons: {
    id: number
    code: string
    status: string
    type: string
    amount: string
    uses: number
    limit: number
    perUser: number
    individual: boolean
    expiresGmt: string | null
    minimum: string
  }[]
}

const folder = join(import.meta.dirname, 'wordpress')

/** The path of the database of a shop of WooCommerce (`a1` or `a2`), as a SQL dump. */
export function dumpOf(name: string): string {
  return join(folder, `${name}.sql.gz`)
}

/** What an import of the dump must arrive at. */
export function expectedOf(name: string): Expected {
  const json = gunzipSync(readFileSync(join(folder, `${name}.expected.json.gz`))).toString()
  return JSON.parse(json) as Expected
}
