import type { Packed } from '../support/packed.ts'
import { generateShop, grown } from './generated-shop.ts'
import type { GeneratedShop, Size } from './generated-shop.ts'
import type { Rounds } from './measure/compare.ts'
import type { Field } from './rows/row.ts'
import { openStage } from './stage.ts'
import type { Payments, Stage } from './stage.ts'

/** Shops are made when a row first asks for them. */
export function openField(packed: Packed, rounds: Rounds, tell: (line: string) => void): Field {
  const shops = new Map<Size, GeneratedShop>()
  let open: { payments: Payments; stage: Stage } | undefined
  const field: Field = {
    packed,
    rounds,
    async shopOf(size) {
      const known = shops.get(size)
      if (known !== undefined) return known
      tell(`making a shop of ${describe(size)}`)
      const made = await generateShop(packed, size)
      shops.set(size, made)
      return made
    },
    async stage(payments) {
      if (open?.payments === payments) return open.stage
      await field.clear()
      const stage = await openStage(packed, await field.shopOf(grown), payments)
      open = { payments, stage }
      return stage
    },
    async clear() {
      await open?.stage.end()
      open = undefined
    }
  }
  return field
}

function describe(size: Size): string {
  return Object.entries(size)
    .map(([what, many]) => `${many.toLocaleString('en')} ${what}`)
    .join(', ')
}
