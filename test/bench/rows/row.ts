import type { Packed } from '../../support/packed.ts'
import type { GeneratedShop, Size } from '../generated-shop.ts'
import type { Measured, Rounds } from '../measure/compare.ts'
import type { Servers } from '../servers.ts'

/** The shop compared with a reference that does the same work. */
export type Comparison = {
  kind: 'comparison'
  name: string
  /** What the reference does. */
  against: string
  shop: Measured
  reference: Measured
  /** The minimum ratio of the shop's requests per second to the reference's. */
  target: number
  /** What one request is for a shop owner, in the plural. */
  serves?: string | undefined
}

/** A figure with a maximum. */
export type Figure = {
  kind: 'figure'
  name: string
  value: number
  unit: '×' | 'ms' | 's' | 'MB' | 'failures'
  max: number
  /** The spread of its runs. */
  spread?: number | undefined
}

export type Outcome = Comparison | Figure

/** What a row needs to measure. */
export type BenchContext = {
  packed: Packed
  rounds: Rounds
  /** A shop of this size, generated once. */
  shopOf(size: Size): Promise<GeneratedShop>
  /** Starts the grown shop and the reference. Stops servers with other payments. */
  servers(payments: 'manual' | 'sandbox'): Promise<Servers>
  /** Stops all servers. */
  clear(): Promise<void>
}

/** A measurement that can be run alone. */
export type Row = {
  name: string
  about: string
  measure(context: BenchContext): Promise<Outcome[]>
}
