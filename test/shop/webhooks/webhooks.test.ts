import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { emit } from '../../../src/shop/webhooks/emit.ts'
import {
  claimDelivery,
  listDeliveries,
  purgeDeliveries,
  replayDeliveries,
  replayFailed,
  undeliveredTotals
} from '../../../src/shop/webhooks/deliveries.ts'
import { addEndpoint, listEndpoints, removeEndpoint, rotateSecret } from '../../../src/shop/webhooks/endpoints.ts'
import type { EndpointRow } from '../../../src/shop/webhooks/endpoints.ts'
import { startWebhookSender } from '../../../src/shop/webhooks/sender.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { until } from '../../support/until.ts'

const hourMs = 60 * 60_000

type Received = { body: string; headers: IncomingHttpHeaders; path: string }

/** Starts a site that records what it receives and responds with `answer`. */
async function receiver(answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end()) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => void (body += text))
    request.on('end', () => {
      received.push({ body, headers: request.headers, path: request.url ?? '' })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

/** The address of a port on which no server listens. */
async function unusedAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}

const deliveriesOf = (...args: Parameters<typeof listDeliveries>) => [...listDeliveries(...args)]

function openShop(): TestShop {
  const shop = openTestShop()
  shop.clock.set(Date.now())
  onTestFinished(() => shop[Symbol.dispose]())
  return shop
}

function add(shop: TestShop, url: string, types: string[] | null = null): EndpointRow {
  return addEndpoint(shop.db, { url, types }, shop.clock.now())
}

function pay(shop: TestShop, orderId: number): void {
  write(shop.db, (tx) => void emit(tx, 'order.paid', { orderId, totalMinor: 2500, currency: 'EUR' }, shop.clock.now()))
}

/** Runs a sender until no delivery is due, or until `done`. */
async function sendAll(shop: TestShop, done?: () => boolean, timeoutMs?: number): Promise<void> {
  const sender = startWebhookSender(shop, timeoutMs === undefined ? {} : { timeoutMs })
  const due = (): boolean =>
    deliveriesOf(shop.db, { limit: 1000 }).some(
      (row) => row.state === 'queued' && (row.nextAttemptAt <= shop.clock.now() || row.lastStatus === null)
    )
  const isDone = done ?? ((): boolean => !due())
  await until('the deliveries', isDone)
  await sender.stop()
}

const statesOf = (shop: TestShop): string[] => deliveriesOf(shop.db, { limit: 100 }).map((row) => row.state)

describe('an outgoing webhook', () => {
  test('passes the verification of the Standard Webhooks library, and fails it after any change', async () => {
    const shop = openShop()
    const site = await receiver()
    const { secret } = add(shop, site.url)
    pay(shop, 7)
    await sendAll(shop)
    const [message] = site.received
    const headers = message?.headers as Record<string, string>
    expect(new Webhook(secret).verify(message?.body ?? '', headers)).toEqual({
      type: 'order.paid',
      timestamp: new Date(shop.clock.now()).toISOString(),
      data: { orderId: 7, totalMinor: 2500, currency: 'EUR' }
    })
    expect(() => new Webhook(secret).verify(`${message?.body} `, headers)).toThrow('No matching signature')
    expect(() => new Webhook('whsec_b3RoZXI=').verify(message?.body ?? '', headers)).toThrow()
    expect(statesOf(shop)).toEqual(['delivered'])
  })

  test('is sent for events of the subscribed types, from when its endpoint is added until it is removed', async () => {
    const shop = openShop()
    const [all, some] = [await receiver(), await receiver()]
    pay(shop, 1)
    const { id } = add(shop, all.url)
    add(shop, some.url, ['order.refunded'])
    pay(shop, 2)
    await sendAll(shop)
    expect(all.received.map(({ body }) => JSON.parse(body).data.orderId)).toEqual([2])
    expect(some.received).toEqual([])
    removeEndpoint(shop.db, id)
    pay(shop, 3)
    expect(deliveriesOf(shop.db, { limit: 10 })).toEqual([])
  })

  test('has details only for an endpoint that asks for full data, and is tried again when they cannot be read', async () => {
    const shop = openShop()
    const [thin, full] = [await receiver(), await receiver()]
    add(shop, thin.url)
    addEndpoint(shop.db, { url: full.url, types: null, full: true }, shop.clock.now())
    pay(shop, 7)
    let isBroken = true
    const detailsOf = () => {
      if (isBroken) throw new Error('the database is locked')
      return { order: { id: 7 } }
    }
    const isSettled = () =>
      deliveriesOf(shop.db, { limit: 10 }).every(({ attempts, state }) => attempts === 1 && state !== 'failed')
    const first = startWebhookSender(shop, { detailsOf })
    await expect.poll(() => isSettled() && thin.received.length === 1).toBe(true)
    await first.stop()
    expect(full.received).toEqual([])
    isBroken = false
    shop.clock.advance(hourMs)
    const second = startWebhookSender(shop, { detailsOf })
    await expect.poll(() => full.received.length).toBe(1)
    await second.stop()
    const paid = { orderId: 7, totalMinor: 2500, currency: 'EUR' }
    expect(JSON.parse(thin.received[0]?.body ?? '').data).toEqual(paid)
    expect(JSON.parse(full.received[0]?.body ?? '').data).toEqual({ ...paid, order: { id: 7 } })
  })

  test('is not queued when the transaction of its event is rolled back', () => {
    const shop = openShop()
    add(shop, 'https://site.example/hook')
    expect(() =>
      write(shop.db, (tx) => {
        emit(tx, 'account.registered', { userId: 1 }, shop.clock.now())
        throw new Error('rolled back')
      })
    ).toThrow('rolled back')
    expect(statesOf(shop)).toEqual([])
  })

  test('is retried for three days under the same id, then fails, and its endpoint still receives the next event', async () => {
    const shop = openShop()
    const site = await receiver((response) => response.writeHead(500).end('no'))
    add(shop, site.url)
    pay(shop, 1)
    const startedAt = shop.clock.now()
    let lastAttemptAt = startedAt
    while (statesOf(shop)[0] === 'queued') {
      shop.db.sqlite.exec('UPDATE webhook_deliveries SET last_status = NULL')
      await sendAll(shop, () => deliveriesOf(shop.db, { limit: 1 })[0]?.lastStatus === 500)
      lastAttemptAt = shop.clock.now()
      const [row] = deliveriesOf(shop.db, { limit: 1 })
      if (row?.state === 'queued') {
        expect(row.nextAttemptAt).toBeGreaterThan(shop.clock.now())
        shop.clock.set(row.nextAttemptAt)
      }
    }
    expect(lastAttemptAt - startedAt).toBeGreaterThan(72 * hourMs)
    expect(site.received).toHaveLength(10)
    expect(new Set(site.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(site.received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
    expect(undeliveredTotals(shop.db, startedAt + hourMs)).toEqual({ failed: 1, late: 0 })
    expect(listEndpoints(shop.db)[0]?.active).toBe(true)
    pay(shop, 2)
    await sendAll(shop, () => site.received.length === 11)
  })

  test('is sent again when it is replayed, whether it was delivered or failed', async () => {
    const isDelivered = (): boolean => statesOf(shop).every((state) => state === 'delivered')
    const shop = openShop()
    const site = await receiver()
    add(shop, site.url)
    pay(shop, 1)
    await sendAll(shop)
    const [row] = deliveriesOf(shop.db, { limit: 1 })
    replayDeliveries(shop.db, [row?.id ?? 0], shop.clock.now())
    await sendAll(shop, isDelivered)
    expect(site.received).toHaveLength(2)
    expect(new Set(site.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    shop.db.sqlite.exec(`UPDATE webhook_deliveries SET state = 'failed', attempts = 10`)
    expect(replayFailed(shop.db, undefined, shop.clock.now())).toBe(1)
    await sendAll(shop, isDelivered)
    expect(site.received).toHaveLength(3)
    expect(() => replayDeliveries(shop.db, [99], 0)).toThrow('Delivery 99 does not exist.')
  })
})

describe('an outgoing webhook and its receiver', () => {
  test('does not delay others when its receiver is silent or unreachable', async () => {
    const shop = openShop()
    const silent = await receiver(() => undefined)
    const good = await receiver()
    add(shop, silent.url)
    add(shop, await unusedAddress())
    add(shop, good.url)
    for (let orderId = 1; orderId <= 30; orderId += 1) pay(shop, orderId)
    const started = performance.now()
    await sendAll(shop, () => good.received.length === 30 && silent.received.length >= 4)
    expect(silent.received).toHaveLength(4)
    expect(performance.now() - started).toBeLessThan(15_000)
    const lost = deliveriesOf(shop.db, { endpointId: 2, limit: 100 })
    expect(
      new Set(lost.filter(({ attempts }) => attempts > 0).map(({ lastError, state }) => `${state} ${lastError}`))
    ).toEqual(new Set(['queued ECONNREFUSED']))
  })

  test('rests until the next poll after a failed attempt, however many deliveries wait', async () => {
    const shop = openShop()
    const { id: endpointId } = add(shop, await unusedAddress())
    // Another receiver that answers when all attempts to reach the first one have failed.
    const waiting: ServerResponse[] = []
    const other = await receiver((response) => (waiting.length < 4 ? void waiting.push(response) : response.end()))
    add(shop, other.url)
    for (let orderId = 1; orderId <= 30; orderId += 1) pay(shop, orderId)
    const sender = startWebhookSender(shop, { pollMs: 100 * hourMs })
    const tried = () => deliveriesOf(shop.db, { endpointId, limit: 100 }).filter(({ attempts }) => attempts > 0)
    await until('four failed attempts', () => tried().filter(({ lastError }) => lastError !== null).length === 4)
    await until('four requests to the other receiver', () => waiting.length === 4)
    for (const response of waiting) response.end()
    await until('all deliveries to the other receiver', () => other.received.length === 30)
    expect(tried()).toHaveLength(4)
    await sender.stop()
    await sendAll(shop, () => tried().length === 12)
  })

  test('is sent even if the clock was ahead when it was queued or tried, and has been set back since', async () => {
    const shop = openShop()
    const { id } = add(shop, 'https://site.example/hook')
    pay(shop, 1)
    shop.clock.advance(-hourMs)
    expect(await claimDelivery(shop.db, id, shop.clock.now())).toMatchObject({ delivery: { eventId: 1 } })
    shop.clock.advance(-1000 * hourMs)
    expect(await claimDelivery(shop.db, id, shop.clock.now())).toMatchObject({ delivery: { attempts: 2 } })
  })

  test('counts as not delivered when its receiver takes too long', async () => {
    const shop = openShop()
    const silent = await receiver(() => undefined)
    add(shop, silent.url)
    pay(shop, 1)
    await sendAll(shop, () => deliveriesOf(shop.db, { limit: 1 })[0]?.lastError !== null, 50)
    expect(deliveriesOf(shop.db, { limit: 1 })).toMatchObject([{ state: 'queued', lastError: 'no response in time' }])
  })

  test('does not follow a redirect', async () => {
    const shop = openShop()
    const inside = await receiver()
    const site = await receiver((response) => response.writeHead(307, { location: inside.url }).end())
    add(shop, site.url)
    pay(shop, 1)
    await sendAll(shop, () => site.received.length === 1 && deliveriesOf(shop.db, { limit: 1 })[0]?.lastStatus === 307)
    expect(inside.received).toEqual([])
    expect(deliveriesOf(shop.db, { limit: 1 })).toMatchObject([{ state: 'queued', lastError: 'HTTP 307' }])
  })

  test('does not take an answer with the first status above success for one', async () => {
    const shop = openShop()
    const site = await receiver((response) => response.writeHead(300).end())
    add(shop, site.url)
    pay(shop, 1)
    await sendAll(shop, () => deliveriesOf(shop.db, { limit: 1 })[0]?.lastStatus === 300)
    expect(deliveriesOf(shop.db, { limit: 1 })).toMatchObject([{ state: 'queued', lastError: 'HTTP 300' }])
  })

  test('is claimed again only a minute after the process that was sending it was killed', async () => {
    const shop = openShop()
    const { id } = add(shop, 'https://site.example/hook')
    pay(shop, 1)
    expect(await claimDelivery(shop.db, id, shop.clock.now())).toMatchObject({ delivery: { attempts: 1 } })
    expect(await claimDelivery(shop.db, id, shop.clock.now() + 59_000)).toBeUndefined()
    expect(await claimDelivery(shop.db, id, shop.clock.now() + 60_000)).toMatchObject({ delivery: { attempts: 2 } })
  })

  test('is deleted a month after it was queued', async () => {
    const shop = openShop()
    const site = await receiver()
    add(shop, site.url)
    pay(shop, 1)
    await sendAll(shop)
    const later = shop.clock.now() + 31 * 24 * hourMs
    expect(write(shop.db, (tx) => purgeDeliveries(tx, later - 2 * 24 * hourMs, 9))).toBe(0)
    expect(write(shop.db, (tx) => purgeDeliveries(tx, later, 9))).toBe(1)
  })
})

test.each(['ftp://site.example', 'https://user:word@site.example', 'site.example', 'javascript:alert(1)'])(
  'a webhook to %s is refused',
  (url) => {
    const shop = openShop()
    expect(() => add(shop, url)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }))
  }
)

test('a webhook with a known address or an unknown event type is refused', () => {
  const shop = openShop()
  add(shop, 'https://site.example/hook')
  expect(() => add(shop, 'https://site.example/hook')).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
  expect(() => add(shop, 'https://other.example/', ['order.eaten'])).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED' })
  )
})

describe('a new secret', () => {
  test('signs beside the old one until that has ended', async () => {
    const shop = openShop()
    const site = await receiver()
    const { id, secret: first } = add(shop, site.url)
    const { secret: second } = rotateSecret(shop.db, id, hourMs, shop.clock.now())
    const { secret: third } = rotateSecret(shop.db, id, 2 * hourMs, shop.clock.now())
    pay(shop, 1)
    await sendAll(shop)
    expect(accepts(site.received[0], [first, second, third])).toEqual([true, true, true])
    shop.clock.set(shop.clock.now() + hourMs)
    pay(shop, 2)
    await sendAll(shop)
    expect(signaturesOf(site.received[1])).toHaveLength(2)
  })

  test('is the only one when an operator ends the old ones, and five sign at most', async () => {
    const shop = openShop()
    const site = await receiver()
    const { id } = add(shop, site.url)
    for (let times = 0; times < 6; times += 1) rotateSecret(shop.db, id, hourMs, shop.clock.now())
    pay(shop, 1)
    await sendAll(shop)
    expect(signaturesOf(site.received[0])).toHaveLength(5)
    const { secret } = rotateSecret(shop.db, id, 0, shop.clock.now())
    pay(shop, 2)
    await sendAll(shop)
    expect(signaturesOf(site.received[1])).toHaveLength(1)
    expect(accepts(site.received[1], [secret])).toEqual([true])
    expect(() => rotateSecret(shop.db, id + 1, 0, 0)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })
})

const signaturesOf = (sent: Received | undefined): string[] =>
  String(sent?.headers['webhook-signature'] ?? '').split(' ')

/** Whether the Standard Webhooks library accepts a request with each of these secrets. */
const accepts = (sent: Received | undefined, secrets: readonly string[]): boolean[] =>
  secrets.map((secret) => {
    try {
      new Webhook(secret).verify(sent?.body ?? '', (sent?.headers ?? {}) as Record<string, string>)
      return true
    } catch {
      return false
    }
  })
