/**
 * Ordinary customers in a separate process, so that only the shop delays them. Each one registers and then sends requests
 * at a fixed rate, without waiting for responses, so that a stall is measured for every request it delays. The argument
 * is a CustomersOptions; to each message of its parent it replies with the measurements since the last one.
 */
import { Agent } from 'node:http'
import { Random } from '../random.ts'
import { sendRequest, cookiesOf, dataOf } from '../http-client.ts'
import type { Reply } from '../http-client.ts'
import { quay } from '../../support/addresses.ts'

/** How often the customers send each request, relative to the others. */
export type Mix = Readonly<Partial<Record<keyof typeof requests, number>>>

export type CustomersOptions = {
  apiRoot: string
  products: readonly { productId: number; slug: string }[]
  customers: number
  /** How often each customer sends a request. */
  everyMs: number
  mix: Mix
  seed: number
}

/** The customers' measurements: response times in milliseconds of all requests and of checkouts, and unexpected responses. */
export type Sample = {
  times: number[]
  checkoutTimes: number[]
  slowest: { path: string; ms: number }
  wrong: string[]
}

type Customer = { address: string; cookie: string; agent: Agent; random: Random }

const options = JSON.parse(process.argv[2] ?? '{}') as CustomersOptions
const requests = {
  health: () => ({ path: '/health' }),
  offers: () => ({ path: '/store/offers' }),
  'search of offers': () => ({ path: '/store/offers?search=mug' }),
  products: () => ({ path: '/store/products' }),
  'search of products': () => ({ path: '/store/products?search=lantern' }),
  categories: () => ({ path: '/store/categories' }),
  product: (customer: Customer) => ({ path: `/store/products/${customer.random.pick(options.products).slug}` }),
  me: () => ({ path: '/me' }),
  orders: () => ({ path: '/orders' }),
  quote: (customer: Customer) => ({ path: '/store/quote', body: cartOf(customer) }),
  checkout: (customer: Customer) => ({ path: '/store/checkout-session', body: cartOf(customer) })
}
const kinds = Object.entries(options.mix).flatMap(([kind, share]) =>
  isKind(kind) ? Array.from({ length: share }, () => kind) : []
)
let sample = emptySample()

function isKind(kind: string): kind is keyof typeof requests {
  return Object.hasOwn(requests, kind)
}

function cartOf({ random }: Customer): object {
  const { productId } = random.pick(options.products)
  return { items: [{ productId, quantity: 1 }], shippingAddress: quay }
}

function emptySample(): Sample {
  return { times: [], checkoutTimes: [], slowest: { path: '', ms: 0 }, wrong: [] }
}

async function enter(number: number, random: Random): Promise<Customer> {
  const address = `203.0.113.${number}`
  const headers = { 'x-forwarded-for': address }
  const { nonce } = dataOf<{ nonce: string }>(await sendRequest(`${options.apiRoot}/nonce`, { headers }))
  const registered = await sendRequest(`${options.apiRoot}/auth/register`, {
    headers: { ...headers, 'x-nonce': nonce },
    body: {
      email: `customer${number}@example.com`,
      password: 'tidal-basalt-93',
      displayName: 'Ada Quill',
      acceptTerms: true
    }
  })
  dataOf(registered)
  return {
    address,
    cookie: cookiesOf(registered),
    agent: new Agent({ keepAlive: true, maxFreeSockets: 2 }),
    random
  }
}

async function sendNext(customer: Customer): Promise<void> {
  const { path, ...request }: { path: string; body?: object } = requests[customer.random.pick(kinds)](customer)
  const current = sample
  try {
    const answer = await sendRequest(`${options.apiRoot}${path}`, {
      headers: { 'x-forwarded-for': customer.address, cookie: customer.cookie },
      agent: customer.agent,
      ...request
    })
    record(current, path, answer)
  } catch (error) {
    current.wrong.push(`${path}: ${String(error)}`)
  }
}

function record(sample: Sample, path: string, { status, text, ms }: Reply): void {
  sample.times.push(ms)
  if (path === '/store/checkout-session') sample.checkoutTimes.push(ms)
  if (ms > sample.slowest.ms) sample.slowest = { path, ms }
  if (status !== 200) sample.wrong.push(`${path}: ${status} ${text.slice(0, 200)}`)
}

const random = new Random(options.seed)
const customers: Customer[] = []
for (let number = 1; number <= options.customers; number += 1) customers.push(await enter(number, random.fork()))
for (const [index, customer] of customers.entries())
  setTimeout(
    () => setInterval(() => void sendNext(customer), options.everyMs),
    (index * options.everyMs) / options.customers
  )
process.on('message', () => {
  process.send?.(sample)
  sample = emptySample()
})
process.on('disconnect', () => process.exit())
process.send?.('entered')
