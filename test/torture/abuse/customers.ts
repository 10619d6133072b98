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

export type CustomersOptions = { apiRoot: string; productId: number; customers: number; everyMs: number; seed: number }

/** The customers' measurements: response times in milliseconds, completed checkouts, and unexpected responses. */
export type Sample = { times: number[]; slowest: { path: string; ms: number }; bought: number; wrong: string[] }

type Customer = { address: string; cookie: string; agent: Agent; random: Random; turn: number }

const options = JSON.parse(process.argv[2] ?? '{}') as CustomersOptions
const checkoutEvery = 60
let sample = emptySample()

function emptySample(): Sample {
  return { times: [], slowest: { path: '', ms: 0 }, bought: 0, wrong: [] }
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
  // Spreads the checkouts over time.
  const turn = random.between(0, checkoutEvery)
  return {
    address,
    cookie: cookiesOf(registered),
    agent: new Agent({ keepAlive: true, maxFreeSockets: 2 }),
    random,
    turn
  }
}

async function sendNext(customer: Customer): Promise<void> {
  customer.turn += 1
  const buys = customer.turn % checkoutEvery === 0
  const path = buys
    ? '/store/checkout-session'
    : customer.random.pick(['/store/offers', '/store/offers?search=mug', '/me', '/orders', '/health'])
  const current = sample
  try {
    const answer = await sendRequest(`${options.apiRoot}${path}`, {
      headers: { 'x-forwarded-for': customer.address, cookie: customer.cookie },
      agent: customer.agent,
      ...(buys ? { body: { items: [{ productId: options.productId, quantity: 1 }], shippingAddress: quay } } : {})
    })
    record(current, path, answer)
    if (buys) current.bought += 1
  } catch (error) {
    current.wrong.push(`${path}: ${String(error)}`)
  }
}

function record(sample: Sample, path: string, { status, text, ms }: Reply): void {
  sample.times.push(ms)
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
