import { Option } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { formatMoney } from '../../platform/money.ts'
import { getAffiliate, getAffiliateById } from '../../shop/affiliates/find.ts'
import { getPayout, listAdminPayouts, showPayout } from '../../shop/payouts/find.ts'
import type { AdminPayout } from '../../shop/payouts/find.ts'
import { adoptLostPayouts, describeLost, listLostPayouts } from '../../shop/payouts/lost.ts'
import { readPayees } from '../../shop/payouts/payouts-csv.ts'
import type { Payees } from '../../shop/payouts/payouts-csv.ts'
import { failPayout } from '../../shop/payouts/fail.ts'
import { payPayouts } from '../../shop/payouts/pay.ts'
import { payoutsCsv } from '../../shop/payouts/payouts-csv.ts'
import { countOfOtherMode, isPayable, planPayouts } from '../../shop/payouts/plan.ts'
import type { PaidPayout } from '../../shop/payouts/pay.ts'
import type { PayoutFilter, PayoutPlan } from '../../shop/payouts/plan.ts'
import { referralsInReview, waitingReferrals } from '../../shop/payouts/held.ts'
import type { HeldReason, WaitingReferrals } from '../../shop/payouts/held.ts'
import { payoutStates } from '../../shop/payouts/shapes.ts'
import type { PayoutState } from '../../shop/payouts/shapes.ts'
import { payeeLanguage, statementCsv, statementPdf } from '../../shop/payouts/statement.ts'
import { inLanguage, wordsOf } from '../../shop/settings/language.ts'
import { reviewWords } from './review-words.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { countOf, parseId, parsePageLimit } from '../terminal/arguments.ts'
import { readInput, writeCsv, writeNewFile } from '../terminal/files.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeCell, timeText } from '../terminal/table.ts'
import { operatorName } from '../terminal/terminal.ts'

type PayOptions = {
  affiliate?: string
  reference?: string
  csv?: string
  payees?: string
  dryRun?: boolean
  yes?: boolean
}
type ListOptions = { affiliate?: string; state?: PayoutState; limit: string }
type FailOptions = { reason: string; yes?: boolean }
type Line = { plan: PayoutPlan; payout: PaidPayout['payout'] | null }

export function define(program: ShopCommand): void {
  const group = program.command('payouts').description('payments to affiliates')
  const planning = addCommand(group, 'plan', 'show what a payout would pay', 'payouts plan --csv payouts.csv')
  runs(planned(planning), (work: Work<PayOptions>) => planOf(work))
  definePay(group, 'payouts')
  const listing = addCommand(group, 'list', 'list the newest payouts', 'payouts list --affiliate mira')
    .option('--affiliate <code>', 'only payouts to this affiliate')
    .addOption(new Option('--state <state>', 'only payouts in this state').choices(payoutStates))
    .option('--limit <n>', 'maximum number, up to 1000', '20')
  runs(listing, list)
  const showing = addCommand(
    group,
    'show <id>',
    'show one payout with its referrals, and write its statement',
    'payouts show 3 --pdf payout-3.pdf'
  )
    .option('--pdf <file>', "write the statement to a new PDF file, in the affiliate's language")
    .option('--csv <file>', 'write the lines of the statement to a new CSV file')
  runs(showing, show)
  const failing = addCommand(
    group,
    'fail <id>',
    'record that the money of a payout came back; its commissions are due again',
    'payouts fail 3 --reason "account closed"'
  )
    .requiredOption('--reason <text>', 'why, stored with the payout')
    .option('--yes', 'do not ask for confirmation')
  runs(failing, fail)
  const adopting = addCommand(
    group,
    'adopt',
    'record the payouts that a restore lost; until then, none is made',
    'payouts adopt'
  ).option('--yes', 'do not ask for confirmation')
  runs(adopting, adopt)
}

/** Adds `pay` to a group of commands. */
export function definePay(group: ShopCommand, name: string): void {
  const pay = addCommand(group, 'pay', 'mark the due commissions as paid', `${name} pay --dry-run --csv payouts.csv`)
    .option('--dry-run', 'only show what would be paid')
    .option('--reference <text>', 'reference stored with the payouts, such as the number of a bank transfer')
    .option('--yes', 'do not ask for confirmation')
  runs(planned(pay), payOrPlan)
}

function planned(command: ShopCommand): ShopCommand {
  return command
    .option('--affiliate <code>', 'only this affiliate')
    .option('--csv <file>', 'write the payouts to a new file')
    .option('--payees <file>', 'with --csv: a CSV with code, holder and iban, which the shop checks and does not store')
}

function list({ app, options }: Work<ListOptions>): Answer {
  const { affiliate, state } = options
  const payouts = listAdminPayouts(app.db, {
    limit: parsePageLimit(options.limit),
    ...(affiliate === undefined ? {} : { affiliateId: getAffiliate(app.db, affiliate).id }),
    ...(state === undefined ? {} : { state })
  })
  return { json: { payouts }, human: payoutTable(payouts) }
}

function payoutTable(payouts: readonly AdminPayout[]) {
  const rows = payouts.map((payout) => [
    payout.id,
    payout.affiliateCode,
    formatMoney(payout.amountMinor, payout.currency),
    payout.state,
    timeCell(payout.createdAtUtc),
    payout.reference ?? ''
  ])
  return table(['Payout', 'Affiliate', 'Amount', 'State', 'Paid', 'Reference'], rows)
}

async function show({ app, options }: Work<{ pdf?: string; csv?: string }>, text: string): Promise<Answer> {
  const { pdf, csv } = options
  const payout = getPayout(app.db, parseId(text))
  const words = wordsOf(inLanguage(app, payeeLanguage(app.db, payout)))
  if (pdf !== undefined) writeNewFile(pdf, await statementPdf(app.db, payout, words))
  if (csv !== undefined) writeCsv(csv, statementCsv(app.db, payout))
  const files = [pdf, csv].filter((file) => file !== undefined)
  return answer(
    app,
    payout.id,
    files.map((file) => `Written to ${file}.`)
  )
}

function answer(app: App, id: number, notes: readonly string[] = []): Answer {
  const shown = showPayout(app.db, id)
  const { payout, lines } = shown
  const money = (minor: number): string => formatMoney(minor, payout.currency)
  const rows = lines.map((line) => [line.referralId ?? '', line.orderId ?? 'bonus', money(line.amountMinor)])
  const failure = payout.failedAtUtc === null ? [] : [`Failed ${timeText(payout.failedAtUtc)}: ${payout.failureReason}`]
  return {
    json: shown,
    human: [
      `Payout ${payout.id} to ${payout.affiliateCode}: ${money(payout.amountMinor)}, ${payout.state}`,
      `Paid ${timeText(payout.createdAtUtc)} by ${payout.paidBy}${payout.reference === null ? '' : `, reference ${payout.reference}`}`,
      ...failure,
      table(['Referral', 'Order', 'Amount'], rows),
      ...notes
    ]
  }
}

async function adopt({ app, options, now, terminal }: Work<{ yes?: boolean }>): Promise<Answer> {
  const lost = listLostPayouts(app.db)
  if (lost.length === 0) return { json: { payouts: [] }, human: 'No payout was lost.' }
  await confirmOrRefuse(terminal, `Record as paid: ${lost.map(describeLost).join(', ')}?`, options)
  const adopted = adoptLostPayouts(app.db, now)
  const payouts = adopted.map(({ id }) => showPayout(app.db, id).payout)
  const without = lost.length - adopted.length
  return {
    json: { payouts },
    human: [
      payoutTable(payouts),
      ...(without === 0 ? [] : [`${countOf(without, 'payout')} to affiliates that the database does not have.`])
    ]
  }
}

async function fail({ app, options, now, terminal }: Work<FailOptions>, text: string): Promise<Answer> {
  const id = parseId(text)
  const { payout } = showPayout(app.db, id)
  const amount = formatMoney(payout.amountMinor, payout.currency)
  await confirmOrRefuse(terminal, `Record that payout ${id} of ${amount} to ${payout.affiliateCode} failed?`, options)
  failPayout(app.db, id, { reason: options.reason, by: operatorName(terminal) }, now)
  return answer(app, id)
}

async function payOrPlan(work: Work<PayOptions>): Promise<Answer> {
  const { app, options, now, terminal } = work
  if (options.dryRun) return planOf(work)
  const filter = filterOf(work)
  const approved = planPayouts(app.db, now, filter)
  const payable = approved.filter(isPayable)
  if (payable.length === 0) return paidAnswer(work, [])
  await confirmOrRefuse(
    terminal,
    `Mark ${totals(payable)} to ${payable.length === 1 ? '1 affiliate' : `${payable.length} affiliates`} as paid?`,
    options
  )
  const { reference, csv } = options
  const payees = payeesOf(options)
  const run = {
    ...filter,
    approved,
    by: operatorName(terminal),
    ...(reference === undefined ? {} : { reference }),
    ...(payees === undefined ? {} : { payees }),
    ...(csv === undefined ? {} : { saveCsv: (text: string) => writeCsv(csv, text) })
  }
  return paidAnswer(work, payPayouts(app.db, run, now))
}

function payeesOf({ payees, csv }: PayOptions): Payees | undefined {
  if (payees === undefined) return undefined
  if (csv === undefined)
    throw new AppError('USAGE', '--payees goes with --csv: the file for the bank has the accounts.')
  return readPayees(readInput(payees))
}

function filterOf({ app, options }: Work<PayOptions>): PayoutFilter {
  const livemode = app.cards?.livemode
  return options.affiliate === undefined
    ? { livemode }
    : { livemode, affiliateId: getAffiliate(app.db, options.affiliate).id }
}

function planOf(work: Work<PayOptions>): Answer {
  const { app, options, now } = work
  const lines = planPayouts(app.db, now, filterOf(work)).map((plan) => ({ plan, payout: null }))
  const payable = lines.filter(({ plan }) => isPayable(plan))
  if (options.csv !== undefined) writeCsv(options.csv, payoutsCsv(app.db, payable, payeesOf(options)))
  return paidAnswer(work, lines)
}

function paidAnswer(work: Work<PayOptions>, lines: readonly Line[]): Answer {
  const { app } = work
  const payouts = lines.map((line) => toLine(app, line))
  const filter = filterOf(work)
  const waiting = waitingReferrals(app.db, filter).map((each) => waitingNote(app, each))
  const note = [...heldNotes(lines), ...waiting, ...reviewNotes(app, filter), ...otherModeNote(app)]
  if (payouts.length === 0) return { json: { payouts }, human: ['Nothing is due.', ...note] }
  const rows = payouts.map((row) => {
    const money = (minor: number): string => formatMoney(minor, row.currency)
    const state =
      row.payoutId === null
        ? row.belowMinimum
          ? 'below minimum'
          : row.amountMinor > 0
            ? 'due'
            : 'not due'
        : `paid (${row.payoutId})`
    const { affiliateCode, amountMinor, earnedMinor, setOffMinor, heldMinor } = row
    return [affiliateCode, money(amountMinor), money(earnedMinor), money(setOffMinor), money(heldMinor), state]
  })
  return {
    json: { payouts },
    human: [table(['Affiliate', 'Payout', 'Earned', 'Set off', 'Held', 'State'], rows), ...note]
  }
}

const decisionsAboutHeld: Readonly<Record<HeldReason, string | null>> = {
  hold_days: null,
  order_not_paid: null,
  account_erased: 'the account is erased, so the shop cannot pay it',
  email_unverified: 'an erased account earned it, and the email of the new account is not verified',
  refund_failed: 'the refund failed. Refund it again, or close its warning, see "shopstead orders warnings"'
}

/** Commissions that stay held until the operator does something. */
function heldNotes(lines: readonly Line[]): string[] {
  return lines.flatMap(({ plan }) =>
    plan.held.flatMap(({ orderId, amountMinor, reason }) => {
      const decision = decisionsAboutHeld[reason]
      const amount = formatMoney(amountMinor, plan.currency)
      const what = orderId === null ? 'Bonus' : `Order ${orderId}`
      return decision === null ? [] : [`${what}, ${amount} held: ${decision}.`]
    })
  )
}

/** Pending referrals of paid orders, for the operator who must accept or reject them. */
export function waitingNote({ db }: App, { affiliateId, referrals, amountMinor, currency }: WaitingReferrals): string {
  const { code } = getAffiliateById(db, affiliateId)
  const what = `${countOf(referrals, 'referral')} of paid orders, ${formatMoney(amountMinor, currency)}`
  return `${code}: ${what}, pending until you accept or reject them. List them with "shopstead referrals list --affiliate ${code} --status pending".`
}

/** A line for each referral of a paid order that an operator must review. */
export function reviewNotes({ db }: App, filter: { affiliateId?: number } = {}): string[] {
  const found = referralsInReview(db, filter)
  const lines = found.map(({ id, orderId, amountMinor, currency, review }) => {
    const why = (review ?? []).map((reason) => reviewWords[reason]).join('; ')
    return `Referral ${id} of order ${orderId}, ${formatMoney(amountMinor, currency)}, waits for a review: ${why}.`
  })
  return found.length === 0 ? [] : [...lines, 'Decide with "shopstead referrals accept" and "referrals reject".']
}

function otherModeNote({ db, cards }: App): string[] {
  const count = countOfOtherMode(db, cards?.livemode)
  const mode = cards?.livemode === true ? 'test' : 'live'
  return count === 0 ? [] : [`${countOf(count, 'commission')} of ${mode} payments: payouts never include them.`]
}

function toLine({ db }: App, { plan, payout }: Line) {
  const { affiliateId, lines, ...amounts } = plan
  return {
    payoutId: payout?.id ?? null,
    affiliateCode: getAffiliateById(db, affiliateId).code,
    ...amounts,
    referralIds: lines.flatMap(({ id }) => id ?? []),
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
