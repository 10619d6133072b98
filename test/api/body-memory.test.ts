import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bodiesInFlight } from '../../src/platform/http/body.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
const errors: string[] = []
beforeAll(async () => {
  const quiet = () => undefined
  const error = (message: string) => void errors.push(message)
  shop = await startShop({ overrides: { log: { debug: quiet, info: quiet, warn: quiet, error } } })
})
afterAll(() => shop.stop())

/** Sends the head of a webhook and a part of its body. */
function sendHalf(url: string, headers: readonly string[], part: Buffer | string = ''): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  const head = ['POST /api/v1/webhooks/stripe HTTP/1.1', 'Host: a', ...headers].join('\r\n')
  socket.write(`${head}\r\n\r\n`)
  socket.write(part)
  return socket
}

async function statusOf(socket: Socket): Promise<string> {
  const [answer] = (await once(socket, 'data')) as [Buffer]
  return answer.toString('latin1').slice(9, 12)
}

const length = 'Content-Length: 262144'
const signature = 'Stripe-Signature: t=1,v1=00'

describe('a webhook', () => {
  it('is refused without a signature before its body arrives', async () => {
    expect(await statusOf(sendHalf(shop.url, [length]))).toBe('400')
  })

  it('is refused before its body arrives when Stripe is not configured', async () => {
    const unconfigured = await startShop({ env: { SHOPSTEAD_PAYMENTS: 'stripe' } })
    onTestFinished(() => unconfigured.stop())
    expect(await statusOf(sendHalf(unconfigured.url, [length, signature]))).toBe('503')
  })

  it('is refused after too many chunks of one byte, and the connection is closed', async () => {
    const socket = sendHalf(shop.url, ['Transfer-Encoding: chunked', signature], '1\r\nx\r\n'.repeat(2_000))
    const closed = once(socket, 'close')
    expect(await statusOf(socket)).toBe('422')
    await closed
  })
})

it('limits unfinished bodies to 64 MB: the oldest are refused with one line in the log, and a login is still answered', async () => {
  const part = Buffer.alloc(250_000, 'x')
  const statuses: string[] = []
  const sockets = Array.from({ length: 300 }, () => sendHalf(shop.url, [length, signature], part))
  for (const socket of sockets) void statusOf(socket).then((status) => statuses.push(status))
  await vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(300 - Math.floor(2 ** 26 / 250_000)), 20_000)
  expect(new Set(statuses)).toEqual(new Set(['503']))
  expect(errors).toEqual(['a request failed'])
  expect(bodiesInFlight.bytes).toBeLessThanOrEqual(2 ** 26)
  const login = await shop.visitor().post('/auth/login', { email: 'mira@shop.example', password: 'paper-lighthouse-7' })
  expect(login.status).toBe(401)
  for (const socket of sockets) socket.destroy()
  await vi.waitFor(() => expect(bodiesInFlight.bytes).toBe(0), 10_000)
}, 40_000)
