import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { formatMoney } from '../platform/money.ts'
import { getAffiliate, getAffiliateById } from '../shop/affiliates/find.ts'
import { isPayable, payPayouts } from '../shop/payouts/pay-payouts.ts'
import type { PaidPayout } from '../shop/payouts/pay-payouts.ts'
import { payoutsCsv } from '../shop/payouts/payouts-csv.ts'
import { planPayouts } from '../shop/payouts/plan-payouts.ts'
import type { PayoutPlan } from '../shop/payouts/plan-payouts.ts'
import { writeCsv } from './csv-file.ts'
import type { Answer } from './output.ts'
import { table } from './table.ts'
import { addCommand, confirmOrRefuse, runs } from './run.ts'
import type { Work } from './run.ts'

type PayOptions = { affiliate?: string; reference?: string; csv?: string; dryRun?: boolean; yes?: boolean }
type Line = { plan: PayoutPlan; payout: PaidPayout['payout'] | null }

export function definePayouts(group: ShopCommand): void {
  const pay = addCommand(group, 'pay', 'mark the due commissions as paid', 'referrals pay --dry-run --csv payouts.csv')
    .option('--dry-run', 'only show what would be paid')
    .option('--affiliate <code>', 'pay only this affiliate')
    .option('--reference <text>', 'reference stored with the payouts, such as the number of a bank transfer')
    .option('--csv <file>', 'write the payouts to a new file')
    .option('--yes', 'do not ask for confirmation')
  runs(pay, 'migrated', payOrPlan)
}

async function payOrPlan(work: Work<PayOptions>): Promise<Answer> {
  const { app, options, now, terminal } = work
  const filter = options.affiliate === undefined ? {} : { affiliateId: getAffiliate(app.db, options.affiliate).id }
  const approved = planPayouts(app.db, now, filter)
  const payable = approved.filter(isPayable)
  if (options.dryRun) return showPlan(work, approved)
  if (payable.length === 0) return answer(app, [])
  await confirmOrRefuse(terminal, `Mark ${totals(payable)} to ${payable.length} affiliate(s) as paid?`, options)
  const { reference, csv } = options
  const run = {
    ...filter,
    approved,
    ...(reference === undefined ? {} : { reference }),
    ...(csv === undefined ? {} : { saveCsv: (text: string) => writeCsv(csv, text) })
  }
  return answer(app, payPayouts(app.db, run, now))
}

function showPlan({ app, options }: Work<PayOptions>, plans: readonly PayoutPlan[]): Answer {
  const lines = plans.map((plan) => ({ plan, payout: null }))
  const payable = lines.filter(({ plan }) => isPayable(plan))
  if (options.csv !== undefined) writeCsv(options.csv, payoutsCsv(app.db, payable))
  return answer(app, lines)
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
