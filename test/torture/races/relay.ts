import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A server between the gateway and the shop that delivers each webhook several times, to several processes. */
export type Relay = {
  origin: string
  /** How often each webhook is delivered. */
  copies: number
  /** The number of deliveries to the shop's processes. */
  sent: number
  /** Responses other than 200. */
  refusals: string[]
  close(): Promise<void>
}

/** Starts a relay. `targets` returns the origins of the shop's processes, which are used in turn. */
export async function openRelay(targets: () => readonly string[]): Promise<Relay> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request)
      const headers = {
        'content-type': 'application/json',
        'stripe-signature': String(request.headers['stripe-signature'])
      }
      const to = targets()
      const statuses = await Promise.all(
        Array.from({ length: relay.copies }, async (_, index) => {
          const answer = await fetch(`${to[index % to.length]}${request.url}`, { method: 'POST', headers, body })
          const text = await answer.text()
          if (answer.status !== 200) relay.refusals.push(`${answer.status} ${text}`)
          return answer.status
        })
      )
      relay.sent += statuses.length
      response.writeHead(Math.max(...statuses)).end()
    })().catch((error: unknown) => {
      relay.refusals.push(String(error))
      response.writeHead(502).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const relay: Relay = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    copies: 1,
    sent: 0,
    refusals: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
  return relay
}
