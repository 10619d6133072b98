import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { askVies, viesOver } from '../../src/platform/vies.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { sandboxVies } from '../../src/sandbox/vies.ts'
import { isSameName } from '../../src/shop/tax/same-name.ts'

/** A server that answers as VIES, or does not. */
async function serve(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}/vies/rest-api`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

const ask = (base: string, requester: string | null = null, timeoutMs = 10_000) =>
  askVies(viesOver(base), { id: 'ELX1234', requester }, timeoutMs)

it('asks VIES by the names of its API, with the seller, and reads the consultation number', async () => {
  const seen: unknown[] = []
  await using vies = await serve((request, response) => {
    const { method, url, headers } = request
    void text(request).then((body) => seen.push([method, url, headers['content-type'], JSON.parse(body)]))
    response.end(
      JSON.stringify({
        countryCode: 'EL',
        vatNumber: 'X1234',
        requestDate: '2026-11-27T09:00:00.000Z',
        valid: true,
        requestIdentifier: 'WAPIAAAA1',
        name: ' ΕΤΑΙΡΕΙΑ ',
        address: '---'
      })
    )
  })
  expect(await ask(vies.base, 'DE123456788')).toEqual({
    outcome: 'confirmed',
    name: 'ΕΤΑΙΡΕΙΑ',
    address: null,
    consultation: 'WAPIAAAA1'
  })
  const body = {
    countryCode: 'EL',
    vatNumber: 'X1234',
    requesterMemberStateCode: 'DE',
    requesterNumber: '123456788'
  }
  expect(seen).toEqual([['POST', '/vies/rest-api/check-vat-number', 'application/json', body]])
})

it.each([
  [
    'an error of a member state',
    '{"actionSucceed":false,"errorWrappers":[{"error":"MS_UNAVAILABLE"}]}',
    'MS_UNAVAILABLE'
  ],
  [
    'a failure that looks like an invalid id',
    '{"valid":false,"userError":"MS_MAX_CONCURRENT_REQ"}',
    'MS_MAX_CONCURRENT_REQ'
  ],
  ['a page', '<!doctype html>', 'an answer that is not one of VIES'],
  ['nothing', '', 'an answer that is not one of VIES'],
  ['another object', '{"valid":"yes"}', 'an answer that is not one of VIES']
])('does not take %s for a verdict', async (_what, answer, reason) => {
  await using vies = await serve((_request, response) => void response.writeHead(500).end(answer))
  expect(await ask(vies.base)).toEqual({ outcome: 'unavailable', reason })
})

it('reads an id that VIES does not accept as one that is not registered', async () => {
  const refused = '{"actionSucceed":false,"errorWrappers":[{"error":"INVALID_INPUT"}]}'
  await using vies = await serve((_request, response) => void response.end(refused))
  expect(await ask(vies.base)).toMatchObject({ outcome: 'not_registered' })
})

it('gives up at its time limit, and when the port is closed or VIES redirects', async () => {
  await using silent = await serve(() => undefined)
  expect(await ask(silent.base, null, 1000)).toEqual({ outcome: 'unavailable', reason: 'no answer within 1 s' })
  await using elsewhere = await serve(
    (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  )
  expect(await ask(elsewhere.base)).toMatchObject({ outcome: 'unavailable' })
  expect(await ask('http://127.0.0.1:1')).toMatchObject({ outcome: 'unavailable' })
})

it('asks again without the seller if VIES does not accept the id of the seller', async () => {
  const request = { id: 'ATU70000009', requester: 'DE123456788' }
  expect(await askVies(sandboxVies, request, 10_000)).toMatchObject({ outcome: 'confirmed', consultation: null })
  expect(await askVies(sandboxVies, { ...request, id: 'ATU12345675' }, 10_000)).toMatchObject({
    consultation: 'WAPIAAAAATU12345675'
  })
})

it('takes the address of VIES from the configuration', () => {
  const baseOf = (value: string) => parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_VIES_API_BASE: value }).viesBase
  expect([baseOf(''), baseOf('http://127.0.0.1:8000/vies/'), baseOf('https://vies.example/rest-api')]).toEqual([
    null,
    'http://127.0.0.1:8000/vies',
    'https://vies.example/rest-api'
  ])
  for (const wrong of ['http://vies.example', 'vies.example', 'https://a@b.example', 'https://vies.example?x=1'])
    expect(() => baseOf(wrong)).toThrow('SHOPSTEAD_VIES_API_BASE must be an https address such as')
})

it('compares names without accents, legal forms and order, and only in one script', () => {
  expect(isSameName('SARL ROUX & FILS', ['Roux et fils'])).toBe(true)
  expect(isSameName('Müller Straßenbau GmbH', ['Muller Strassenbau'])).toBe(true)
  expect(isSameName('GOOGLE IRELAND LIMITED', ['Hans Huber', 'Huber GmbH'])).toBe(false)
  expect(isSameName('GOOGLE IRELAND LIMITED', ['Hans Huber', 'Google Ireland'])).toBe(true)
  expect(isSameName('A B LTD', ['C D LTD'])).toBe(true)
  expect(isSameName('ΕΤΑΙΡΕΙΑ', ['Etaireia'])).toBe(true)
  expect(isSameName('ΕΤΑΙΡΕΙΑ', ['ΑΛΛΗ'])).toBe(false)
  expect(isSameName('Roux', [])).toBe(true)
})
