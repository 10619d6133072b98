import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest'
import { createClient, isShopError } from '../../src/client/client.ts'
import type { CheckoutHandoff, CheckoutRedirect, Client } from '../../src/client/client.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())

const items = [{ productId: 1, quantity: 1 }]

/** A server before the shop that cuts the connection after the shop has answered the first `cuts` checkouts. */
async function cuttingServer(cuts: number): Promise<{ url: string; keys: unknown[] }> {
  const keys: unknown[] = []
  const server = createServer((req, res) => {
    const { hostname, port } = new URL(shop.url)
    const { method = 'GET', url: path = '', headers } = req
    const isCheckout = path.includes('checkout-session')
    if (isCheckout) keys.push(headers['idempotency-key'])
    const isCut = isCheckout && keys.length <= cuts
    const outgoing = sendRequest({ hostname, port, method, path, headers }, (incoming) => {
      if (isCut) incoming.resume().on('end', () => req.socket.destroy())
      else incoming.pipe(res.writeHead(incoming.statusCode ?? 0, incoming.headers))
    })
    req.pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys }
}

async function orderCount(): Promise<number> {
  const row = shop.app.db.sqlite.prepare('SELECT count(*) AS count FROM orders').get() as { count: number }
  return row.count
}

describe('a checkout', () => {
  it('is repeated under its own key when the connection breaks after the work, and places one order', async () => {
    const before = await orderCount()
    const { url, keys } = await cuttingServer(2)
    const client = createClient({ baseUrl: `${url}/api/secure`, repeatAfterMs: [0, 0] })
    const { orderToken, checkoutUrl } = await client.checkout({ items })
    expect(checkoutUrl).toContain('/checkout/')
    expect((await client.orders.byToken(orderToken)).order.status).toBe('pending')
    expect(await orderCount()).toBe(before + 1)
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[\da-f]{32}$/)
    await client.checkout({ items: [{ productId: 1, quantity: 2 }] })
    expect(new Set(keys).size).toBe(2)
  })

  it('reports a lost answer when the repeats fail as well', async () => {
    const { url, keys } = await cuttingServer(9)
    const client = createClient({ baseUrl: `${url}/api/secure`, repeatAfterMs: [0] })
    const error = await client.checkout({ items }).catch((thrown: unknown) => thrown)
    expect(isShopError(error, 'NO_ANSWER')).toBe(true)
    expect(keys).toHaveLength(2)
  })

  it('goes on under its key in a later call until it has an answer, and is a new purchase then', async () => {
    const before = await orderCount()
    const { url, keys } = await cuttingServer(2)
    const client = createClient({ baseUrl: `${url}/api/secure`, repeatAfterMs: [0] })
    const body = { items, notes: 'Ring twice.' }
    await expect(client.checkout(body)).rejects.toThrow('cannot be reached')
    await client.checkout(body)
    expect([new Set(keys).size, await orderCount()]).toEqual([1, before + 1])
    await client.checkout(body)
    expect(new Set(keys).size).toBe(2)
  })

  it('is not repeated when the shop refuses it, or after the caller has aborted it', async () => {
    const { url, keys } = await cuttingServer(0)
    const refused = createClient({ baseUrl: `${url}/api/secure` })
    const error = await refused
      .checkout({ items: [{ productId: 999, quantity: 1 }] })
      .catch((thrown: unknown) => thrown)
    expect(isShopError(error, 'VALIDATION_FAILED') && error.details.problems?.[0]?.code).toBe('unknown_product')
    expect(keys).toHaveLength(1)
    const cut = await cuttingServer(9)
    const controller = new AbortController()
    const waiting = createClient({ baseUrl: `${cut.url}/api/secure`, repeatAfterMs: [60_000] })
    const aborted = waiting.checkout({ items }, { signal: controller.signal })
    controller.abort(new Error('left the page'))
    await expect(aborted).rejects.toThrow('left the page')
  })

  it('answers by its strategy', () => {
    const client: Client = createClient()
    const handoff = { items, returnUrl: 'https://shop.example', paymentToken: 'pm_card_visa' }
    expectTypeOf(() => client.checkout({ items })).returns.resolves.toEqualTypeOf<CheckoutRedirect>()
    expectTypeOf(() =>
      client.checkout({ ...handoff, strategy: 'token_handoff' })
    ).returns.resolves.toEqualTypeOf<CheckoutHandoff>()
    expectTypeOf((strategy: 'redirect_to_store' | 'token_handoff') =>
      client.checkout({ ...handoff, strategy })
    ).returns.resolves.toEqualTypeOf<CheckoutRedirect | CheckoutHandoff>()
    // @ts-expect-error this field does not exist
    expectTypeOf(() => client.checkout({ items, colour: 'red' })).toBeFunction()
  })
})

it('the client tells when the proxy drops a query', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  const client = createClient({ baseUrl: `${shop.url}/api/secure` })
  await client.get('/store/offers', { query: { page: 1, search: 'lantern' } })
  const warning = 'The first-party proxy dropped the query of /store/offers: page, search.'
  expect(warn.mock.calls).toEqual([[warning]])
  await client.products.list({ search: 'lantern', sort: 'price' })
  await createClient({ baseUrl: `${shop.url}/api/v1` }).get('/store/offers', { query: { page: 1 } })
  expect(warn).toHaveBeenCalledOnce()
})

it('the client has less than 5.5 KB when a site compresses its scripts', async () => {
  const bundle = await rolldown({ input: 'src/client/client.ts', platform: 'browser' })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()
  const [{ code }] = output
  expect(gzipSync(code).length).toBeLessThan(5.5 * 1024)
})
