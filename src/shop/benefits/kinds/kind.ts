import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { z } from 'zod'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { parseWith } from '../../../platform/http/validation.ts'
import type { GrantKind, GrantSpec } from '../../catalog/grants.ts'
import type { ModuleName } from '../../settings/modules.ts'
import { setting } from '../../settings/settings.ts'
import { byHand } from '../rows.ts'
import type { Source } from '../rows.ts'

/** Everything that the shop does with one kind of benefit; benefits/kinds.ts has a row for each. */
export type BenefitKind<Kind extends GrantKind = GrantKind> = {
  /** The name of its list in `benefits list` and in a person's export. */
  plural: string
  /** Its table, with the columns `id`, `order_id` and `order_item_id`. */
  table: SQLiteTable
  /** The column with the start of the benefit. */
  since: 'started_at' | 'created_at'
  /** Whether its amount is its share of the line's total. For zero, nothing is given. */
  sharesTotal: boolean
  /** How a buyer without an account gets it. */
  guests: Guests<Kind> | 'need an account' | 'nothing to use'
  /** Starts the benefit of one grant, after a running one of the same kind, and emits its event. Returns its id. */
  start(tx: Tx, to: Recipient, spec: GrantSpec<Kind>, now: number): number
  /**
   * Ends one benefit immediately and emits its `*.ended` event; null if it does not exist or has already ended.
   *
   * @param line `{orderItemId: null}` detaches the benefit from its line, which can then be given again if the order is
   *   paid
   */
  end(tx: Tx, id: number, line: { orderItemId?: null }, now: number): Ended | null
  /** A person's current and past benefits of this kind, regardless of which modules are on. */
  list(db: Db, userId: number, now: number): Benefit[]
  /** The text about the grant on a product's page. */
  words(db: Db, spec: GrantSpec<Kind>): string
  /** How often the gateway charges for it again; null for a kind that is paid once. */
  renewal: { interval(spec: GrantSpec<Kind>): 'month' | 'year' } | null
  byHand: ByHand
}

/**
 * The recipient, the source and the quantity of a benefit. A quantity of three gives three consecutive periods.
 *
 * A benefit that is bought again while it runs gets a row of its own that begins at the end of the last one, so that a
 * refund revokes exactly its own part. Readers see consecutive rows as one (spans.ts). A benefit without an end is
 * never extended.
 */
export type Recipient = {
  userId: number
  productId: number
  quantity: number
  source: Source
  /** Its share of the line's total in minor units of the currency; 0 for a kind that does not share the total. */
  amountMinor: number
  currency: string
}

/** A benefit that belongs to an order until an account claims the order. */
type Guests<Kind extends GrantKind> = {
  start(tx: Tx, to: Omit<Recipient, 'userId'>, spec: GrantSpec<Kind>, now: number): number
  /** Gives the benefits of an order to the account that claims it. */
  claim(tx: Tx, orderId: number, userId: number): void
}

/** @property gatewayId the subscription at the gateway that the reconciler must cancel; null for none */
export type Ended = { gatewayId: string | null }

/** One benefit, as JSON for operators and as a row of a table. */
export type Benefit = {
  view: object
  line: { id: number; what: string; state: string; until: string | null; orderId: number | null }
  /** The module of the benefit; if the module is off, the benefit is hidden. */
  module: ModuleName
}

/** How an operator gives a benefit without an order. */
export type ByHand = {
  /** The options of the command line, by name. */
  options: Readonly<Record<string, HandOption>>
  /** Gives it as described by `request`, `kind` included. Returns its id. @throws AppError VALIDATION_FAILED, NOT_FOUND */
  give(tx: Tx, userId: number, request: object, now: number): number
}
/** @property value the placeholder of the value (`<slug>`); null for a flag */
export type HandOption = { value: string | null; about: string }

type HandRecipient = Pick<Recipient, 'userId' | 'quantity' | 'source'>

/** Combines the input schema, the options and the function of a kind. `input` gets the shop's currency, for amounts. */
export function givenByHand<Input extends object>(of: {
  input: (currency: string) => z.ZodType<Input>
  options: Readonly<Record<Exclude<keyof Input, 'kind'>, HandOption>>
  give: (tx: Tx, to: HandRecipient, input: Input, now: number) => number
}): ByHand {
  return {
    options: of.options,
    give(tx, userId, request, now) {
      const input = parseWith(of.input(setting(tx, 'shop.currency')), request)
      return of.give(tx, { userId, quantity: 1, source: byHand }, input, now)
    }
  }
}

/** The shift after a period was revoked: periods that begin at `from` or later start `by` milliseconds earlier. */
export type Shift = { id: number; from: number; by: number }

/**
 * The rest of a period; undefined when it is over or has no end. Periods after it start earlier by this time, so that a
 * refund revokes exactly its own period, and no day that another order paid for is lost.
 */
export function remainderOf(
  row: { id: number; startedAt: number },
  end: number | null,
  now: number
): Shift | undefined {
  const by = end === null ? 0 : end - Math.max(now, row.startedAt)
  return end === null || by <= 0 ? undefined : { id: row.id, from: end, by }
}
