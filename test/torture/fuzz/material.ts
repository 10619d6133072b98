import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Browser } from '../../support/browser.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import { Random } from '../random.ts'
import type { Material } from './api-requests.ts'
import { Users } from './users.ts'
import type { GatewayObjects } from './webhook-target.ts'
import type { WatchedShop } from './watched-shop.ts'
import { quay } from '../../support/addresses.ts'

/** Existing objects of a shop, some of each kind. */
export type CollectedMaterial = Material &
  GatewayObjects & { orders: readonly string[]; sandbox: readonly string[]; downloads: readonly string[] }

const shape = 30

/** Creates orders and emails, and collects the ids and tokens of all objects. */
export async function collect(shop: WatchedShop): Promise<CollectedMaterial> {
  const { server, secrets, dataDir } = shop
  const users = new Users(server.apiRoot, secrets)
  await users.collect()
  const browser = new Browser(server.apiRoot)
  const { data } = await browser.get<{ offers: { productId: number }[] }>('/store/offers?perPage=100')
  const productIds = data.offers.map(({ productId }) => productId)
  for (const { email } of users.people) await browser.post('/auth/forgot-password', { email })
  const bought = await buy(server.apiRoot, productIds)
  return {
    users,
    productIds,
    tokens: await mailedTokens(dataDir, users.people.length),
    ...bought,
    downloads: await downloads(server.apiRoot)
  }
}

type Bought = Pick<CollectedMaterial, 'orders' | 'sandbox' | 'sessions' | 'intents'>
type Checkout = { orderId: string | number; checkoutUrl?: string; redirectUrl?: string; paymentId?: string }

/** Creates orders with an open payment page and orders that require 3-D Secure. */
async function buy(apiRoot: string, productIds: readonly number[]): Promise<Bought> {
  const random = new Random(1)
  const addresses: string[] = []
  for (let time = 0; time < shape; time += 1) {
    const browser = new Browser(apiRoot)
    const items = [{ productId: random.pick(productIds), quantity: 1 }]
    const shipped = { shippingAddress: quay, shippingMethod: 'standard' }
    const handoff = {
      strategy: 'token_handoff',
      paymentToken: 'pm_card_authenticationRequired',
      returnUrl: 'https://shop.example/thanks'
    }
    const { data } = await browser.post<Checkout>('/store/checkout-session', {
      items,
      ...shipped,
      ...(time % 3 === 0 ? handoff : {})
    })
    addresses.push(...[data?.checkoutUrl, data?.redirectUrl].flatMap((address) => address ?? []))
  }
  const own = addresses.filter((address) => !address.includes('/sandbox/'))
  // The shop's own page leads to the sandbox's payment page.
  for (const address of own.slice(0, 8)) addresses.push(await chooseCard(apiRoot, address))
  const paths = addresses.map((address) => URL.parse(address, apiRoot)?.pathname ?? '')
  const after = (start: string): string[] =>
    paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length))
  return {
    orders: after('/checkout/'),
    sandbox: paths.filter((path) => path.startsWith('/sandbox/')),
    sessions: after('/sandbox/checkout/'),
    intents: after('/sandbox/3ds/')
  }
}

async function chooseCard(apiRoot: string, address: string): Promise<string> {
  const url = new URL(new URL(address).pathname, new URL(apiRoot).origin).href
  const form = { payment_method: 'card', email: 'ada@example.com', firstName: 'Ada', lastName: 'Quill' }
  const response = await new Browser(apiRoot).form(url, form)
  return response.headers.get('location') ?? ''
}

async function downloads(apiRoot: string): Promise<string[]> {
  const found: string[] = []
  for (const name of ['lena', 'new', 'mira']) {
    const browser = new Browser(apiRoot)
    await browser.post('/auth/login', { email: `${name}@shop.example`, password: demoPassword })
    const { data } = await browser.get<{ downloads: { url: string }[] }>('/me/downloads')
    found.push(...data.downloads.map(({ url }) => url))
  }
  return [...found, '/downloads/1.zzz.'.padEnd(60, 'x'), '/downloads/..', '/downloads/9.abc']
}

/** The tokens in all emails of a shop's mail folder. */
async function mailedTokens(dataDir: string, atLeast: number): Promise<string[]> {
  for (let tries = 0; tries < 100; tries += 1) {
    const folder = join(dataDir, 'mail')
    const names = readdirSync(dataDir).includes('mail') ? readdirSync(folder) : []
    const mails = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
    const tokens = new Set([...mails.matchAll(/[?&]token=([\w-]{20,})/g)].map((match) => match[1] ?? ''))
    if (tokens.size >= atLeast) return [...tokens]
    await sleep(100)
  }
  return []
}
