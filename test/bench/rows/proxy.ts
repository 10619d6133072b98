import { compare } from '../measure/compare.ts'
import type { RequestSpec } from '../measure/load.ts'
import { requestAs } from './endpoints.ts'
import type { Comparison, BenchContext, Row } from './row.ts'

export const proxyRow: Row = {
  name: 'proxy',
  about: 'through /api/secure',
  async measure(context) {
    const servers = await context.servers('manual')
    const member = requestAs(servers, 'member')
    const response = await fetch(servers.shop('/api/v1/nonce').url, member)
    const { data } = (await response.json()) as { data: { nonce: string } }
    const headers = { ...member.headers, 'X-Nonce': data.nonce }
    return [await compareProxied(context, '/me', { headers }), await compareProxied(context, '/store/offers', {})]
  }
}

async function compareProxied(
  context: BenchContext,
  path: string,
  request: Omit<RequestSpec, 'url'>
): Promise<Comparison> {
  const servers = await context.servers('manual')
  const sides = [servers.shop(`/api/secure${path}`, request), servers.shop(`/api/v1${path}`, request)] as const
  for (const { url, headers = {} } of sides) {
    const { status } = await fetch(url, { headers })
    if (status !== 200) throw new Error(`${url} returned ${status}.`)
  }
  const [shop, reference] = await compare(...sides, context.rounds)
  const name = `GET ${path} through /api/secure`
  return { kind: 'comparison', name, against: 'the same directly', target: 0.75, shop, reference }
}
