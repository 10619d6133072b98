import { Option } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { formatMoney } from '../../platform/money.ts'
import {
  allReferrals,
  listAdminReferrals,
  showReferral,
  toAdminReferral,
  referralsCsv
} from '../../shop/referrals/admin.ts'
import type { AdminReferral, ReferralFilter } from '../../shop/referrals/admin.ts'
import { acceptAsOperator, rejectAsOperator } from '../../shop/payouts/decide-referral.ts'
import { getAffiliate, getAffiliateById } from '../../shop/affiliates/find.ts'
import { referralStatuses } from '../../shop/referrals/states.ts'
import type { ReferralStatus } from '../../shop/referrals/states.ts'
import { writeCsv } from '../terminal/files.ts'
import { countOf, parseId, parsePageLimit } from '../terminal/arguments.ts'
import { JsonList, TextParts, showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeCell, timeText } from '../terminal/table.ts'
import { addCommand, runs, confirmOrRefuse } from '../run.ts'
import { isPayable, payPayouts, planPayouts, payoutsCsv } from '../../shop/payouts/payouts.ts'
import type { PaidPayout, PayoutPlan } from '../../shop/payouts/payouts.ts'

type FilterOptions = { affiliate?: string; status?: ReferralStatus }

export function define(program: ShopCommand): void {
  const group = program.command('referrals').description('referrals and payouts')
  const listing = addCommand(
    group,
    'list',
    'list the newest referrals',
    'referrals list --affiliate mira --status unpaid'
  )
  runs(filtered(listing).option('--limit <n>', 'maximum number, up to 1000', '20'), list)
  runs(
    addCommand(group, 'show <id>', 'show one referral with its ledger', 'referrals show 12'),
    ({ app }, id: string) => answer(app, parseId(id))
  )
  const accept = addCommand(group, 'accept <id>', 'accept the referral of a paid order', 'referrals accept 12')
  runs(accept, ({ app, now }, id: string) => {
    acceptAsOperator(app.db, parseId(id), now)
    return answer(app, parseId(id))
  })
  const reject = addCommand(
    group,
    'reject <id>',
    'reject a referral permanently and take back its commission',
    'referrals reject 12'
  )
  runs(
    reject.option('--reason <text>', 'reason, stored with the referral', ''),
    ({ app, options, now }: Work<{ reason: string }>, id: string) => {
      rejectAsOperator(app.db, parseId(id), options.reason, now)
      return answer(app, parseId(id))
    }
  )
  definePayouts(group)
  const exporting = addCommand(
    group,
    'export',
    'export referrals as CSV',
    'referrals export --status paid --out referrals.csv'
  )
  runs(filtered(exporting).option('--out <file>', 'write a file instead of printing'), exportCsv)
}

function filtered(command: ShopCommand): ShopCommand {
  return command
    .option('--affiliate <code>', 'only referrals of this affiliate')
    .addOption(new Option('--status <status>', 'only referrals with this status').choices(referralStatuses))
}

function filterOf(app: App, { affiliate, status }: FilterOptions): ReferralFilter {
  return {
    ...(affiliate === undefined ? {} : { affiliateId: getAffiliate(app.db, affiliate).id }),
    ...(status === undefined ? {} : { status })
  }
}

function list({ app, options }: Work<FilterOptions & { limit: string }>): Answer {
  const limit = parsePageLimit(options.limit)
  const found = listAdminReferrals(app.db, { ...filterOf(app, options), limit })
  const rows = found.map((row) => [
    row.id,
    row.affiliateCode,
    row.orderId,
    formatMoney(row.amountMinor, row.currency),
    row.status,
    timeCell(row.createdAtUtc),
    row.note === undefined ? '' : noteWords[row.note]
  ])
  return {
    json: { referrals: found },
    human: table(['Referral', 'Affiliate', 'Order', 'Amount', 'State', 'Since', 'Note'], rows)
  }
}

const noteWords: Readonly<Record<NonNullable<AdminReferral['note']>, string>> = {
  plus_address: 'the buyer uses a plus address of the affiliate'
}

function answer(app: App, id: number): Answer {
  const shown = showReferral(app.db, id)
  const { referral, entries } = shown
  const money = (minor: number): string => formatMoney(minor, referral.currency)
  const why = referral.rejectedFor === null ? '' : ` (${referral.rejectedFor})`
  const rows = entries.map((entry) => [timeCell(entry.at), entry.kind, money(entry.amountMinor), entry.reason])
  return {
    json: shown,
    human: [
      `Referral ${referral.id}: ${referral.status}${why}, ${money(referral.amountMinor)} at ${referral.rate} %`,
      `Affiliate ${referral.affiliateCode}, order ${referral.orderId}, visit ${referral.visitId}, ${timeText(referral.createdAtUtc)}`,
      ...(referral.note === undefined ? [] : [`Note: ${noteWords[referral.note]}`]),
      ...(rows.length === 0 ? [] : [table(['At', 'Entry', 'Amount', 'Reason'], rows)])
    ]
  }
}

function exportCsv(work: Work<FilterOptions & { out?: string }>): Answer {
  const { app, options } = work
  const filter = filterOf(app, options)
  const { out: file } = options
  const found = allReferrals(app.db, filter, (rows) =>
    rows.map((row) => toAdminReferral(row.referral, row.affiliateCode))
  )
  const json = new JsonList('referrals', found, () => (file === undefined ? {} : { file }))
  if (file === undefined) return { json, human: new TextParts(referralsCsv(app.db, filter)) }
  const progress = showProgress(work)
  let count = 0
  const counted = (rows: number): void => progress.step(`${(count += rows)} referrals written`)
  try {
    writeCsv(file, referralsCsv(app.db, filter, counted))
  } finally {
    progress.done()
  }
  return { json, human: `${countOf(count, 'referral')} written to ${file}.` }
}

type PayOptions = { affiliate?: string; reference?: string; csv?: string; dryRun?: boolean; yes?: boolean }
type Line = { plan: PayoutPlan; payout: PaidPayout['payout'] | null }

function definePayouts(group: ShopCommand): void {
  const pay = addCommand(group, 'pay', 'mark the due commissions as paid', 'referrals pay --dry-run --csv payouts.csv')
    .option('--dry-run', 'only show what would be paid')
    .option('--affiliate <code>', 'pay only this affiliate')
    .option('--reference <text>', 'reference stored with the payouts, such as the number of a bank transfer')
    .option('--csv <file>', 'write the payouts to a new file')
    .option('--yes', 'do not ask for confirmation')
  runs(pay, payOrPlan)
}

async function payOrPlan(work: Work<PayOptions>): Promise<Answer> {
  const { app, options, now, terminal } = work
  const filter = options.affiliate === undefined ? {} : { affiliateId: getAffiliate(app.db, options.affiliate).id }
  const approved = planPayouts(app.db, now, filter)
  const payable = approved.filter(isPayable)
  if (options.dryRun) return showPlan(work, approved)
  if (payable.length === 0) return paidAnswer(app, [])
  await confirmOrRefuse(terminal, `Mark ${totals(payable)} to ${payable.length} affiliate(s) as paid?`, options)
  const { reference, csv } = options
  const run = {
    ...filter,
    approved,
    ...(reference === undefined ? {} : { reference }),
    ...(csv === undefined ? {} : { saveCsv: (text: string) => writeCsv(csv, text) })
  }
  return paidAnswer(app, payPayouts(app.db, run, now))
}

function showPlan({ app, options }: Work<PayOptions>, plans: readonly PayoutPlan[]): Answer {
  const lines = plans.map((plan) => ({ plan, payout: null }))
  const payable = lines.filter(({ plan }) => isPayable(plan))
  if (options.csv !== undefined) writeCsv(options.csv, payoutsCsv(app.db, payable))
  return paidAnswer(app, lines)
}

function paidAnswer(app: App, lines: readonly Line[]): Answer {
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
