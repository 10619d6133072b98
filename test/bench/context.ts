import type { Packed } from '../support/packed.ts'
import { generateShop } from './generated-shop.ts'
import type { GeneratedShop, Size } from './generated-shop.ts'
import type { Rounds } from './measure/compare.ts'
import type { BenchContext } from './rows/row.ts'
import { startServers } from './servers.ts'
import type { Payments, Servers } from './servers.ts'

/** Creates the context of a benchmark. A shop is generated when a row first needs it. */
export function openContext(
  packed: Packed,
  rounds: Rounds,
  measured: Size,
  progress: (line: string) => void
): BenchContext {
  const shops = new Map<Size, GeneratedShop>()
  let open: { payments: Payments; servers: Servers } | undefined
  const context: BenchContext = {
    packed,
    rounds,
    async shopOf(size) {
      const known = shops.get(size)
      if (known !== undefined) return known
      progress(`generating a shop with ${describe(size)}`)
      const created = await generateShop(packed, size)
      shops.set(size, created)
      return created
    },
    async servers(payments) {
      if (open?.payments === payments) return open.servers
      await context.clear()
      const servers = await startServers(packed, await context.shopOf(measured), payments)
      open = { payments, servers }
      return servers
    },
    async clear() {
      await open?.servers.end()
      open = undefined
    }
  }
  return context
}

function describe(size: Size): string {
  return Object.entries(size)
    .map(([what, many]) => `${many.toLocaleString('en')} ${what}`)
    .join(', ')
}
