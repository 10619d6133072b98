import { rmSync } from 'node:fs'
import { copyWith, small } from '../generated-shop.ts'
import { dimensions } from './dimensions.ts'
import type { Dimension } from './dimensions.ts'
import { compareRequests } from './larger.ts'
import type { Figure, Row } from './row.ts'

/** How much of the data the form of CI has, which only shows that the requests are answered. */
const shortShare = 1 / 100

export const growingRow: Row = {
  name: 'growth',
  about: 'CPU time with 10 × of one thing',
  async measure({ packed, rounds: { rounds, warmUpSeconds }, shopOf, clear }) {
    await clear()
    const base = await shopOf(small)
    const isShort = warmUpSeconds === 0
    const effort = isShort ? { rounds, warmUp: 5, cpuSeconds: 0.02 } : { rounds, warmUp: 200, cpuSeconds: 0.5 }
    const figures: Figure[] = []
    for (const dimension of dimensions) {
      const many = Math.ceil(dimension.many * (isShort ? shortShare : 1))
      const shops = {
        large: copyWith(base, dimension.fill(many)),
        small: copyWith(base, dimension.fill(Math.ceil(many / 10)))
      }
      const requests = dimension.requests.map((request) => ({
        ...request,
        about: `${nameOf(many, dimension)}, ${request.about}`
      }))
      figures.push(...(await compareRequests(packed, shops, requests, effort)))
      for (const { dataDir } of Object.values(shops)) rmSync(dataDir, { recursive: true, force: true })
    }
    return figures
  }
}

function nameOf(many: number, { name }: Dimension): string {
  return `${many.toLocaleString('en')} ${name}`
}
