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
import { creditMissedOrder } from '../../shop/payouts/by-hand.ts'
import { decideReferrals } from '../../shop/payouts/decide-referral.ts'
import { getAffiliate, getAffiliateById } from '../../shop/affiliates/find.ts'
import { referralsInReview } from '../../shop/payouts/held.ts'
import { itemsOf } from '../../shop/orders/find.ts'
import { getReferral } from '../../shop/referrals/store.ts'
import type { ReferralRow } from '../../shop/referrals/store.ts'
import { AppError } from '../../errors.ts'
import { referralStatuses } from '../../shop/referrals/states.ts'
import type { ReferralStatus } from '../../shop/referrals/states.ts'
import { writeCsv } from '../terminal/files.ts'
import { countOf, parseId, parsePageLimit } from '../terminal/arguments.ts'
import { JsonList, TextParts, showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeCell, timeText } from '../terminal/table.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import { definePay } from './payouts.ts'
import { reviewWords } from './review-words.ts'

type FilterOptions = { affiliate?: string; status?: ReferralStatus }

export function define(program: ShopCommand): void {
  const group = program.command('referrals').description('referrals of affiliates')
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
  const accept = addCommand(
    group,
    'accept [ids...]',
    'accept referrals of paid orders; sends an email',
    'referrals accept 12'
  )
  runs(decided(accept), (work: Work<DecideOptions>, ids: string[]) => decide(work, ids, { accept: true }))
  const reject = addCommand(
    group,
    'reject [ids...]',
    'reject referrals permanently and take back their commissions; sends an email',
    'referrals reject 12'
  )
  runs(
    decided(reject).option('--reason <text>', 'reason, which the affiliate reads', ''),
    (work: Work<DecideOptions & { reason: string }>, ids: string[]) =>
      decide(work, ids, { accept: false, reason: work.options.reason })
  )
  const create = addCommand(
    group,
    'create',
    'credit an affiliate with an order that has none; sends an email',
    'referrals create --order 12 --affiliate mira --reason "the link was lost"'
  )
    .requiredOption('--order <id>', 'the order')
    .requiredOption('--affiliate <code>', 'the affiliate')
    .requiredOption('--reason <text>', 'why, for the events and the affiliate')
  runs(create, ({ app, options, now }: Work<CreateOptions>) => {
    const { order, affiliate: ref, reason } = options
    return answer(app, creditMissedOrder(app.db, parseId(order), { ref, reason }, now).id)
  })
  definePay(group, 'referrals')
  const exporting = addCommand(
    group,
    'export',
    'export referrals as CSV',
    'referrals export --status paid --out referrals.csv'
  )
  runs(filtered(exporting).option('--out <file>', 'write a file instead of printing'), exportCsv)
}

function decided(command: ShopCommand): ShopCommand {
  return command
    .option('--review', 'all referrals that wait for a review')
    .option('--affiliate <code>', 'with --review: only those of this affiliate')
    .option('--yes', 'do not ask for confirmation')
}

type CreateOptions = { order: string; affiliate: string; reason: string }
type DecideOptions = { review?: boolean; affiliate?: string; yes?: boolean }

/** Accepts or rejects the named referrals, or all in review. */
async function decide(
  { app, options, now, terminal }: Work<DecideOptions>,
  names: readonly string[],
  decision: Parameters<typeof decideReferrals>[2]
): Promise<Answer> {
  if (options.review !== true) {
    const [first, ...others] = names.map(parseId)
    if (first === undefined) throw new AppError('USAGE', 'Name the referrals by their ids, or pass --review.')
    if (!decision.accept)
      await confirmOrRefuse(terminal, `Reject ${named(app, [first, ...others])} and take back the commission?`, options)
    if (others.length === 0) {
      decideReferrals(app.db, [first], decision, now)
      return answer(app, first)
    }
    return decidedAnswer(app, decideReferrals(app.db, [first, ...others], decision, now))
  }
  if (names.length > 0) throw new AppError('USAGE', 'Name the referrals, or pass --review, not both.')
  const found = referralsInReview(app.db, filterOf(app, options))
  if (found.length === 0) return { json: { referrals: [] }, human: 'No referral waits for a review.' }
  const verb = decision.accept ? 'Accept' : 'Reject'
  await confirmOrRefuse(terminal, `${verb} ${countOf(found.length, 'referral')}?`, options)
  const ids = found.map(({ id }) => id)
  return decidedAnswer(app, decideReferrals(app.db, ids, decision, now))
}

function named({ db }: App, ids: readonly number[]): string {
  const amounts = ids.map((id) => {
    const { orderId, amountMinor, currency } = getReferral(db, id)
    return `referral ${id} of order ${orderId} (${formatMoney(amountMinor, currency)})`
  })
  return amounts.join(', ')
}

function decidedAnswer({ db }: App, rows: readonly ReferralRow[]): Answer {
  const referrals = rows.map((row) => toAdminReferral(row, getAffiliateById(db, row.affiliateId).code))
  return { json: { referrals }, human: referralTable(referrals) }
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
  return { json: { referrals: found }, human: referralTable(found) }
}

function referralTable(referrals: readonly AdminReferral[]) {
  const rows = referrals.map((row) => [
    row.id,
    row.affiliateCode,
    row.orderId,
    formatMoney(row.amountMinor, row.currency),
    row.status,
    timeCell(row.createdAtUtc),
    (row.review ?? []).map((reason) => reviewWords[reason]).join('; ')
  ])
  return table(['Referral', 'Affiliate', 'Order', 'Amount', 'State', 'Since', 'Review'], rows)
}

function answer(app: App, id: number): Answer {
  const shown = showReferral(app.db, id)
  const { referral, lines, entries } = shown
  const money = (minor: number): string => formatMoney(minor, referral.currency)
  const why = referral.rejectedFor === null ? '' : ` (${referral.rejectedFor})`
  const names = new Map(itemsOf(app.db, referral.orderId).map((item) => [item.id, item.name]))
  const lineRows = lines.map(({ orderItemId, baseMinor, rate, source, rateId, commissionMinor, takenBackMinor }) => [
    plain(names.get(orderItemId) ?? ''),
    money(baseMinor),
    `${rate} %`,
    rateId === null ? source : `${source} (rate ${rateId})`,
    money(commissionMinor - takenBackMinor)
  ])
  const rows = entries.map((entry) => [timeCell(entry.at), entry.kind, money(entry.amountMinor), entry.reason])
  return {
    json: shown,
    human: [
      `Referral ${referral.id}: ${referral.status}${why}, ${money(referral.amountMinor)} at ${referral.rate === null ? 'several rates' : `${referral.rate} %`}`,
      `Affiliate ${referral.affiliateCode}, order ${referral.orderId}, visit ${referral.visitId}, ${timeText(referral.createdAtUtc)}`,
      ...(referral.review ?? []).map((reason) => `Review: ${reviewWords[reason]}`),
      ...(lineRows.length === 0 ? [] : [table(['Line', 'Goods', 'Rate', 'Given by', 'Commission'], lineRows)]),
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
