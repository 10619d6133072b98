import { deepStrictEqual } from 'node:assert/strict'
import { compare } from '../measure/compare.ts'
import type { Side } from '../measure/compare.ts'
import { cart } from './checkout.ts'
import type { Row } from './row.ts'

export const quoteRow: Row = {
  name: 'quote',
  about: 'POST /store/quote, two products',
  async measure(context) {
    const servers = await context.servers('manual')
    const sides = [servers.shop('/api/v1/store/quote', cart), servers.reference('/store/quote', cart)] as const
    const [data, expected] = await Promise.all(sides.map(quoteOf))
    deepStrictEqual(expected, data, 'the reference sends a different response')
    const [shop, reference] = await compare(...sides, context.rounds)
    return [
      {
        kind: 'comparison',
        name: this.about,
        against: 'the same SQL',
        target: 0.45,
        serves: 'priced carts',
        shop,
        reference
      }
    ]
  }
}

async function quoteOf({ url, method = 'POST', headers = {}, body = '' }: Side): Promise<unknown> {
  const response = await fetch(url, { method, headers, body: body.replace('{n}', '1') })
  const { data } = (await response.json()) as { data?: { payable: boolean } }
  if (data?.payable !== true) throw new Error(`${url} quoted nothing.`)
  return data
}
