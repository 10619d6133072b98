import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { z } from 'zod'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { parseWith } from '../../../platform/http/zod-errors.ts'
import type { GrantKind, GrantSpec } from '../../catalog/grants.ts'
import type { ModuleName } from '../../settings/modules.ts'
import { setting } from '../../settings/settings.ts'
import { byHand } from '../rows.ts'
import type { Source } from '../rows.ts'

/** Everything that the shop does with one kind of benefit; benefits/kinds.ts has a row for each. */
export type BenefitKind<Kind extends GrantKind = GrantKind> = {
  /** The name of its list, in `benefits list` and in a person's export. */
  plural: string
  /** Where it is stored, with the columns `id`, `order_id` and `order_item_id`. */
  table: SQLiteTable
  /** The column that says since when a person has it. */
  since: 'started_at' | 'created_at'
  /** Whether the paid line's total is its amount, shared with other such grants of the line; nothing is given for zero. */
  sharesTotal: boolean
  /** Starts what one grant of a paid line gives, after what of it runs already, and writes its event. Returns its id. */
  start(tx: Tx, to: Recipient, spec: GrantSpec<Kind>, now: number): number
  /**
   * Ends one benefit at once and writes its `*.ended` event; null when there is none or it has ended before.
   *
   * @param line takes the benefit off its order's line, which can then be given again should the order be paid after all
   */
  end(tx: Tx, id: number, line: { orderItemId?: null }, now: number): Ended | null
  /** What a person holds or held, whatever modules are on. */
  list(db: Db, userId: number, now: number): Benefit[]
  /** What a product's page says of it. */
  words(db: Db, spec: GrantSpec<Kind>): string
  /** How often the gateway charges for it again; null for what is paid once. */
  renewal: { interval(spec: GrantSpec<Kind>): 'month' | 'year' } | null
  byHand: ByHand
}

/**
 * To whom, what for, and how often: a quantity of three gives three periods on end.
 *
 * What is bought again while it runs becomes a row of its own that begins where the last one ends, so that a refund can
 * take back exactly its own part; readers see the rows on end as one (spans.ts). What has no end is never extended.
 */
export type Recipient = {
  userId: number
  productId: number
  quantity: number
  source: Source
  /** Its part of the line's total, in minor units of the currency; 0 for a kind that does not share the total. */
  amountMinor: number
  currency: string
}

/** @property gatewayId what the gateway goes on charging for until the reconciler has cancelled it there, by its id */
export type Ended = { gatewayId: string | null }

/** One benefit: as JSON for the operator, and as a line of a table. */
export type Benefit = {
  view: object
  line: { id: number; what: string; state: string; until: string | null; orderId: number | null }
  /** The module that hides it when it is off. */
  module: ModuleName
}

/** How an operator gives a benefit that no order pays for. */
export type ByHand = {
  /** What the command line takes for it, by name. */
  options: Readonly<Record<string, HandOption>>
  /** Gives it as described by `said`, `kind` included. Returns its id. @throws AppError VALIDATION_FAILED, NOT_FOUND */
  give(tx: Tx, userId: number, said: object, now: number): number
}
/** @property value how the value is written (`<slug>`); null for a switch */
export type HandOption = { value: string | null; about: string }

type HandRecipient = Pick<Recipient, 'userId' | 'quantity' | 'source'>

/** @param of `input` may depend on the shop's currency: amounts are minor units of it */
export function givenByHand<Input extends object>(of: {
  input: (currency: string) => z.ZodType<Input>
  options: Readonly<Record<Exclude<keyof Input, 'kind'>, HandOption>>
  give: (tx: Tx, to: HandRecipient, input: Input, now: number) => number
}): ByHand {
  return {
    options: of.options,
    give(tx, userId, said, now) {
      const input = parseWith(of.input(setting(tx, 'shop.currency')), said)
      return of.give(tx, { userId, quantity: 1, source: byHand }, input, now)
    }
  }
}

/** What moves up when a period is taken back: what begins at `from` or later, by so many milliseconds. */
export type Shift = { id: number; from: number; by: number }

/**
 * What is still to come of a period; undefined when it is over or has no end. What was bought to follow on the period
 * moves up by it: the refund takes back its own period to the millisecond, and no day that another order paid for is lost.
 */
export function remainderOf(
  row: { id: number; startedAt: number },
  end: number | null,
  now: number
): Shift | undefined {
  const by = end === null ? 0 : end - Math.max(now, row.startedAt)
  return end === null || by <= 0 ? undefined : { id: row.id, from: end, by }
}
