import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { write } from '../platform/db/database.ts'
import { formatMoney } from '../platform/money.ts'
import { payoutsCsv } from '../shop/referrals/csv.ts'
import { getAffiliate, getAffiliateById } from '../shop/affiliates/find.ts'
import { isPayable, payPayouts } from '../shop/referrals/pay-payouts.ts'
import type { PaidPayout } from '../shop/referrals/pay-payouts.ts'
import { planPayouts } from '../shop/referrals/payouts.ts'
import type { PayoutFilter, PayoutPlan } from '../shop/referrals/payouts.ts'
import { findOrder } from '../shop/orders/find.ts'
import { isPaidStatus } from '../shop/orders/states.ts'
import { writeCsv } from './csv-file.ts'
import { table } from './output.ts'
import type { Answer } from './output.ts'
import { addCommand, confirmOrRefuse, runs } from './run.ts'
import type { Work } from './run.ts'

type PayOptions = { affiliate?: string; reference?: string; csv?: string; dryRun?: boolean; yes?: boolean }
type Line = { plan: PayoutPlan; payout: PaidPayout['payout'] | null }

export function definePayouts(group: ShopCommand): void {
  const pay = addCommand(group, 'pay', 'mark as paid what is due', 'referrals pay --dry-run --csv payouts.csv')
    .option('--dry-run', 'only show what would be paid')
    .option('--affiliate <code>', 'only this one')
    .option('--reference <text>', 'kept with the payouts, such as the number of a bank transfer')
    .option('--csv <file>', 'write the payouts to a new file')
    .option('--yes', 'do not ask')
  runs(pay, 'migrated', payOrPlan)
}

/** What payouts, and accepting by hand, ask of orders. */
export function isOrderPaid(app: App): (orderId: number) => boolean {
  return (orderId) => {
    const order = findOrder(app.db, orderId)
    return order !== undefined && isPaidStatus(order.status)
  }
}

async function payOrPlan(work: Work<PayOptions>): Promise<Answer> {
  const { app, options, now } = work
  const filter = {
    isOrderPaid: isOrderPaid(app),
    ...(options.affiliate === undefined ? {} : { affiliateId: getAffiliate(app.db, options.affiliate).id })
  }
  const plans = planPayouts(app.db, now, filter)
  if (options.dryRun) {
    const lines = plans.map((plan) => ({ plan, payout: null }))
    if (options.csv !== undefined)
      writeCsv(
        options.csv,
        payoutsCsv(
          app.db,
          lines.filter((line) => isPayable(line.plan))
        )
      )
    return answer(app, lines)
  }
  const payable = plans.filter(isPayable)
  if (payable.length === 0) return answer(app, [])
  await confirmOrRefuse(work.terminal, `Mark as paid ${totals(payable)} to ${payable.length} affiliate(s)?`, options)
  return answer(app, pay(work, filter, plans))
}

/** The file is written in the transaction, so that neither is there without the other. */
function pay(
  { app, options, now }: Work<PayOptions>,
  filter: PayoutFilter,
  approved: readonly PayoutPlan[]
): PaidPayout[] {
  const { reference, csv } = options
  const run = { ...filter, approved, ...(reference === undefined ? {} : { reference }) }
  return write(app.db, (tx) => {
    const paid = payPayouts(tx, run, now)
    if (csv !== undefined) writeCsv(csv, payoutsCsv(tx, paid))
    return paid
  })
}

function answer(app: App, lines: readonly Line[]): Answer {
  const payouts = lines.map((line) => toLine(app, line))
  if (payouts.length === 0) return { json: { payouts }, human: 'Nothing is due.' }
  const rows = payouts.map((row) => {
    const money = (minor: number): string => formatMoney(minor, row.currency)
    const state = row.payoutId === null ? (row.amountMinor > 0 ? 'due' : 'not due') : `paid (${row.payoutId})`
    const { affiliateCode, amountMinor, earnedMinor, setOffMinor, heldMinor } = row
    return [affiliateCode, money(amountMinor), money(earnedMinor), money(setOffMinor), money(heldMinor), state]
  })
  return { json: { payouts }, human: table(['Affiliate', 'Payout', 'Earned', 'Set off', 'Held', 'State'], rows) }
}

function toLine({ db }: App, { plan, payout }: Line) {
  const { affiliateId, lines, ...amounts } = plan
  return {
    payoutId: payout?.id ?? null,
    affiliateCode: getAffiliateById(db, affiliateId).code,
    ...amounts,
    referralIds: lines.map((line) => line.id),
    reference: payout?.reference ?? null
  }
}

function totals(plans: readonly PayoutPlan[]): string {
  const byCurrency = Map.groupBy(plans, (plan) => plan.currency)
  return [...byCurrency]
    .map(([currency, group]) =>
      formatMoney(
        group.reduce((sum, plan) => sum + plan.amountMinor, 0),
        currency
      )
    )
    .join(' and ')
}
