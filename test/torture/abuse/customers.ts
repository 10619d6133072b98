/**
 * Ordinary customers, in a process of their own so that nothing but the shop keeps them waiting. Each registers, and then
 * sends a request every so often whether or not the one before was answered, so that a standstill is felt by all that it
 * would have been felt by. Takes a Crowd as its argument; told `lap` by its parent it answers what it has felt since.
 */
import { Agent } from 'node:http'
import { Random } from '../random.ts'
import { sendRequest, cookiesOf, dataOf } from '../http-client.ts'
import type { Reply } from '../http-client.ts'

export type Crowd = { apiRoot: string; productId: number; customers: number; everyMs: number; seed: number }

/** What customers felt: how long their requests took, and what was not answered as it should have been. */
export type Lap = { times: number[]; slowest: { path: string; ms: number }; bought: number; wrong: string[] }

type Customer = { address: string; cookie: string; agent: Agent; random: Random; turn: number }

const crowd = JSON.parse(process.argv[2] ?? '{}') as Crowd
const checkoutEvery = 60
let lap = noLap()

function noLap(): Lap {
  return { times: [], slowest: { path: '', ms: 0 }, bought: 0, wrong: [] }
}

async function enter(number: number, random: Random): Promise<Customer> {
  const address = `203.0.113.${number}`
  const headers = { 'x-forwarded-for': address }
  const { nonce } = dataOf<{ nonce: string }>(await sendRequest(`${crowd.apiRoot}/nonce`, { headers }))
  const registered = await sendRequest(`${crowd.apiRoot}/auth/register`, {
    headers: { ...headers, 'x-nonce': nonce },
    body: {
      email: `customer${number}@example.com`,
      password: 'tidal-basalt-93',
      displayName: 'Ada Quill',
      acceptTerms: true
    }
  })
  dataOf(registered)
  // They do not all buy in the same moment.
  const turn = random.between(0, checkoutEvery)
  return {
    address,
    cookie: cookiesOf(registered),
    agent: new Agent({ keepAlive: true, maxFreeSockets: 2 }),
    random,
    turn
  }
}

async function doSomething(customer: Customer): Promise<void> {
  customer.turn += 1
  const buys = customer.turn % checkoutEvery === 0
  const path = buys
    ? '/store/checkout-session'
    : customer.random.pick(['/store/offers', '/store/offers?search=mug', '/me', '/orders', '/health'])
  const felt = lap
  try {
    const answer = await sendRequest(`${crowd.apiRoot}${path}`, {
      headers: { 'x-forwarded-for': customer.address, cookie: customer.cookie },
      agent: customer.agent,
      ...(buys ? { body: { items: [{ productId: crowd.productId, quantity: 1 }] } } : {})
    })
    note(felt, path, answer)
    if (buys) felt.bought += 1
  } catch (error) {
    felt.wrong.push(`${path}: ${String(error)}`)
  }
}

function note(felt: Lap, path: string, { status, text, ms }: Reply): void {
  felt.times.push(ms)
  if (ms > felt.slowest.ms) felt.slowest = { path, ms }
  if (status !== 200) felt.wrong.push(`${path}: ${status} ${text.slice(0, 200)}`)
}

const random = new Random(crowd.seed)
const customers: Customer[] = []
for (let number = 1; number <= crowd.customers; number += 1) customers.push(await enter(number, random.fork()))
for (const [index, customer] of customers.entries())
  setTimeout(
    () => setInterval(() => void doSomething(customer), crowd.everyMs),
    (index * crowd.everyMs) / crowd.customers
  )
process.on('message', () => {
  process.send?.(lap)
  lap = noLap()
})
process.on('disconnect', () => process.exit())
process.send?.('entered')
