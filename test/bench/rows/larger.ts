import type { Packed } from '../../support/packed.ts'
import type { GeneratedShop, Person } from '../generated-shop.ts'
import { cpuMsOf } from '../measure/request-cpu.ts'
import type { Asked, Effort, Question } from '../measure/request-cpu.ts'
import { spread } from '../measure/statistics.ts'
import { serveShop } from '../servers.ts'
import type { Figure } from './row.ts'

/** The times of the same work in a large and in a small shop. */
type Times = { large: readonly number[]; small: readonly number[] }

/** Ten times the data may cost this much more. */
const most = 1.2

/** How much longer the work takes in the large shop. Other work on the machine only adds CPU time, so the least counts. */
export function growthOf(what: string, { large, small }: Times): Figure {
  const [long, short] = [Math.min(...large), Math.min(...small)]
  return {
    kind: 'figure',
    name: `${what}: ${long.toFixed(2)} ms and ${short.toFixed(2)} ms`,
    value: long / short,
    unit: '×',
    max: most,
    spread: Math.max(spread(large), spread(small))
  }
}

type Shops = Readonly<Record<keyof Times, Pick<GeneratedShop, 'dataDir' | 'cookieOf'>>>

/** The CPU time of requests to a large and a small shop, by turns. */
export async function compareRequests(
  packed: Packed,
  shops: Shops,
  questions: readonly (Question<Person> & { about?: string })[],
  effort: Effort & { rounds: number }
): Promise<Figure[]> {
  const servers = { large: await serve(packed, shops.large), small: await serve(packed, shops.small) }
  try {
    const figures: Figure[] = []
    for (const question of questions) {
      const times = { large: [] as number[], small: [] as number[] }
      for (let round = 0; round < effort.rounds; round += 1)
        for (const size of ['large', 'small'] as const) times[size].push(await cpuMsOf(servers[size], question, effort))
      figures.push(growthOf(question.about ?? question.path, times))
    }
    return figures
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.end()))
  }
}

async function serve(packed: Packed, shop: Shops['large']): Promise<Asked<Person> & { end(): Promise<void> }> {
  const { pid, url, end } = await serveShop(packed, shop.dataDir, 'manual')
  return { pid, url, end, cookieOf: (person) => shop.cookieOf(person) }
}
