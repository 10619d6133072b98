import type Database from 'better-sqlite3'
import type { Size } from '../../bench/generated-shop.ts'
import type { Mix } from '../abuse/customers.ts'

/** What one piece of work may use. */
export type Operator = {
  isFull: boolean
  dataDir: string
  /** Runs a command of the package beside the server. Throws when it fails. */
  command(...words: string[]): Promise<void>
  /** Waits until a query of one number returns 0, for work that the server does by itself. */
  untilNone(sql: string): Promise<void>
}

/** One piece of an operator's work, or of the server's own jobs. */
export type Work = {
  name: string
  /** The buyers beside it. */
  buyers: Buyers
  /** What the shop of the full form has more of than usual. */
  size?: Partial<Size>
  /** How many payment pages are opened before the work. */
  pages?: { short: number; full: number }
  /** Fills the stopped shop with what the work needs. */
  prepare?: (shop: { sqlite: Database.Database; dataDir: string; isFull: boolean }) => void | Promise<void>
  run(operator: Operator): Promise<void>
  /** The memory in MB that the server and the commands have together, with the files that they read. */
  memoryMb?: number
  /** The server begins it when it starts, so the buyers are alone only after it. */
  atStart?: true
}

/** Buyers who send requests at a fixed rate. */
export type Buyers = { perSecond: number; mix: Mix }

/** 60 % catalog, 25 % of their own account, 10 % quotes, 5 % checkouts. */
export const shoppers: Buyers = {
  perSecond: 100,
  mix: {
    offers: 9,
    products: 12,
    product: 24,
    'search of products': 9,
    categories: 6,
    me: 15,
    orders: 10,
    quote: 10,
    checkout: 5
  }
}

export const checkouts: Buyers = { perSecond: 50, mix: { checkout: 1 } }
