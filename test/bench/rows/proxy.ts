import { compare } from '../measure/compare.ts'
import type { Asked } from '../measure/load.ts'
import { askedBy } from './endpoints.ts'
import type { Comparison, Field, Row } from './row.ts'

export const proxyRow: Row = {
  name: 'proxy',
  about: 'through /api/secure',
  async measure(field) {
    const stage = await field.stage('manual')
    const member = askedBy(stage, 'member')
    const response = await fetch(stage.shop('/api/v1/nonce').url, member)
    const { data } = (await response.json()) as { data: { nonce: string } }
    const headers = { ...member.headers, 'X-Nonce': data.nonce }
    return [await carried(field, '/me', { headers }), await carried(field, '/store/offers', {})]
  }
}

async function carried(field: Field, path: string, asked: Omit<Asked, 'url'>): Promise<Comparison> {
  const stage = await field.stage('manual')
  const sides = [stage.shop(`/api/secure${path}`, asked), stage.shop(`/api/v1${path}`, asked)] as const
  for (const { url, headers = {} } of sides) {
    const { status } = await fetch(url, { headers })
    if (status !== 200) throw new Error(`${url} answered ${status}.`)
  }
  const [shop, reference] = await compare(...sides, field.rounds)
  const name = `GET ${path} through /api/secure`
  return { kind: 'comparison', name, against: 'the same directly', bar: 0.75, shop, reference }
}
