import type { Packed } from '../../support/packed.ts'
import type { GeneratedShop, Size } from '../generated-shop.ts'
import type { Measured, Rounds } from '../measure/compare.ts'
import type { Stage } from '../stage.ts'

/** The shop beside something that does the same without it. */
export type Comparison = {
  kind: 'comparison'
  name: string
  against: string
  shop: Measured
  reference: Measured
  /** The share of the reference's requests a second that the shop is to reach. */
  bar: number
}

/** One number that may be so much at most. */
export type Figure = {
  kind: 'figure'
  name: string
  value: number
  unit: '×' | 'ms' | 's' | 'MB' | 'failures'
  most: number
  /** How far apart the runs behind it are. */
  spread?: number
}

export type Outcome = Comparison | Figure

/** What a row needs to measure. */
export type Field = {
  packed: Packed
  rounds: Rounds
  /** A shop of this size, made once. */
  shopOf(size: Size): Promise<GeneratedShop>
  /** The grown shop and the reference, both running; what ran before is ended. */
  stage(payments: 'manual' | 'sandbox'): Promise<Stage>
  /** Ends what runs. */
  clear(): Promise<void>
}

/** Something that can be measured by itself. */
export type Row = {
  name: string
  about: string
  measure(field: Field): Promise<Outcome[]>
}
