import { Option } from 'commander'
import { defineTableImport } from '../shop/table-import.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { setOwnRate } from '../../shop/affiliates/rates.ts'
import { rateLine } from '../offers/commissions.ts'
import { giveBonus } from '../../shop/payouts/by-hand.ts'
import { setting } from '../../shop/settings/settings.ts'
import { formatMoney, toMinor } from '../../platform/money.ts'
import { getUser } from '../../shop/accounts/find.ts'
import { showAffiliate, toAdminAffiliate } from '../../shop/referrals/admin.ts'
import type { AdminAffiliate } from '../../shop/referrals/admin.ts'
import { createAffiliate } from '../../shop/affiliates/create.ts'
import { decideAffiliate } from '../../shop/affiliates/decide.ts'
import type { AffiliateDecision } from '../../shop/mail/queue.ts'
import { getAffiliate, listAffiliates, affiliateStatuses } from '../../shop/affiliates/find.ts'
import { waitingReferrals } from '../../shop/payouts/held.ts'
import type { WaitingReferrals } from '../../shop/payouts/held.ts'
import { waitingNote } from './payouts.ts'
import { parseRate } from '../../shop/affiliates/input.ts'
import type { AffiliateRow, AffiliateStatus } from '../../shop/affiliates/find.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeCell } from '../terminal/table.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'

type CreateOptions = { user: string; code: string; rate?: string; status: AffiliateStatus }

const decisions: readonly { decision: AffiliateDecision; about: string }[] = [
  { decision: 'approve', about: 'approve an affiliate: new orders are credited; sends an email' },
  { decision: 'reject', about: 'reject an application; sends an email' },
  { decision: 'deactivate', about: 'stop crediting an affiliate; earned commissions stay; sends an email' }
]

export function define(program: ShopCommand): void {
  const group = program.command('affiliates').description('affiliates, named by code or id')
  const listing = addCommand(group, 'list', 'list the affiliates', 'affiliates list --status pending').addOption(
    new Option('--status <status>', 'only affiliates with this status').choices(affiliateStatuses)
  )
  runs(listing, list)
  runs(addCommand(group, 'show <code>', 'show one affiliate with visits and balance', 'affiliates show mira'), show)
  defineTableImport(group, 'affiliates', 'email, and optionally code, rate, owed and paid')
  const create = addCommand(
    group,
    'create',
    'make an account an affiliate',
    'affiliates create --user mira@shop.example --code mira --status active'
  )
    .requiredOption('--user <email-or-id>', 'the account')
    .requiredOption('--code <code>', 'value of ref in their links')
    .option('--rate <percent>', 'commission rate (default: the setting affiliates.rate)')
    .addOption(new Option('--status <status>', 'initial status').choices(affiliateStatuses).default('pending'))
  runs(create, ({ app, options, now }: Work<CreateOptions>) => {
    const { code, status } = options
    const rateBps = options.rate === undefined ? null : parseRate(options.rate)
    const userId = getUser(app.db, options.user).id
    return answer(app, createAffiliate(app.db, { userId, code, status, rateBps }, now))
  })
  const set = addCommand(
    group,
    'set <code>',
    'change the commission rate of an affiliate from a day on; orders before it keep theirs',
    'affiliates set mira --rate 12.5 --from 2027-01-01'
  )
    .requiredOption('--rate <percent>', "the rate, or shop for the shop's (affiliates.rate)")
    .option('--from <day>', 'the first day of the rate (default: now)')
  runs(set, ({ app, options, now }: Work<{ rate: string; from?: string }>, code: string) => {
    const rateBps = options.rate === 'shop' ? null : parseRate(options.rate)
    setOwnRate(app.db, code, { rateBps, from: options.from }, now)
    return show({ app, now }, code)
  })
  const bonus = addCommand(
    group,
    'bonus <code>',
    'add an amount to what an affiliate is owed; a negative one corrects it; sends an email',
    'affiliates bonus mira --amount 25 --reason "thank you"'
  )
    .requiredOption('--amount <n>', "in the shop's currency")
    .requiredOption('--reason <text>', 'why, for the ledger and the affiliate')
  runs(bonus, giveOne)
  for (const { decision, about } of decisions) {
    const deciding = addCommand(group, `${decision} <code>`, about, `affiliates ${decision} mira`)
    if (decision === 'deactivate') deciding.option('--yes', 'do not ask for confirmation')
    runs(deciding, async ({ app, options, now, terminal }: Work<{ yes?: boolean }>, code: string) => {
      if (decision === 'deactivate')
        await confirmOrRefuse(terminal, `Deactivate the affiliate ${getAffiliate(app.db, code).code}?`, options)
      return answer(app, decideAffiliate(app.db, code, decision, now))
    })
  }
}

function giveOne({ app, options, now }: Work<{ amount: string; reason: string }>, code: string): Answer {
  const { amount, reason } = options
  const unsigned = amount.replace(/^-/, '')
  const amountMinor = toMinor(unsigned, setting(app.db, 'shop.currency')) * (unsigned === amount ? 1 : -1)
  return show({ app, now }, giveBonus(app.db, code, { amountMinor, reason }, now).code)
}

function list({ app, options, now }: Work<{ status?: AffiliateStatus }>): Answer {
  const { status } = options
  const found = <T>(view: (row: AdminAffiliate) => T): Iterable<T> =>
    listAffiliates(app.db, { status }, (row) => view(toAdminAffiliate(app.db, row, now)))
  const rows = found((row) => [row.code, row.status, `${row.rate} %`, row.email, timeCell(row.createdAt)])
  return {
    json: new JsonList(
      'affiliates',
      found((row) => row)
    ),
    human: table(['Code', 'State', 'Rate', 'Email', 'Since'], rows)
  }
}

function show({ app, now }: Pick<Work<object>, 'app' | 'now'>, code: string): Answer {
  const shown = showAffiliate(app.db, getAffiliate(app.db, code), now)
  const { affiliate, balance, visits, campaigns, coupons, rates } = shown
  const money = (minor: number): string => formatMoney(minor, balance.currency)
  const rows = campaigns.map((row) => [
    row.campaign ?? '(none)',
    row.clicks,
    row.visits,
    row.conversions,
    `${row.conversionRate} %`,
    money(row.earnedMinor)
  ])
  const waiting = waitingReferrals(app.db, { affiliateId: affiliate.id })
  return {
    json: { ...shown, waiting: waiting.map(toWaiting) },
    human: [
      ...describe(affiliate),
      ...waiting.map((each) => waitingNote(app, each)),
      `Balance: ${money(balance.pendingMinor)} pending, ${money(balance.unpaidMinor)} unpaid, ${money(balance.paidMinor)} paid out`,
      ...rates.map((rate) => rateLine(app.db, rate)),
      ...(coupons.length === 0 ? [] : [`Coupons: ${coupons.join(', ')}`]),
      `Visits: ${visits.visits}, ${visits.conversions} converted (${visits.conversionRate} %)`,
      ...(rows.length === 0 ? [] : [table(['Campaign', 'Clicks', 'Visits', 'Converted', 'Rate', 'Earned'], rows)])
    ]
  }
}

function answer(app: App, row: AffiliateRow): Answer {
  const affiliate = toAdminAffiliate(app.db, row, app.clock.now())
  const waiting = waitingReferrals(app.db, { affiliateId: row.id })
  return {
    json: { affiliate, ...(waiting.length > 0 && { waiting: waiting.map(toWaiting) }) },
    human: [...describe(affiliate), ...waiting.map((each) => waitingNote(app, each))]
  }
}

function toWaiting({ affiliateId: _id, ...waiting }: WaitingReferrals) {
  return waiting
}

function describe(affiliate: AdminAffiliate): string[] {
  const { code, status, rate, ownRate, email, termsVersion, termsAcceptedAt, website, message } = affiliate
  return [
    `${code}: ${status}, ${rate} % ${ownRate === null ? "(the shop's rate)" : '(own rate)'}, ${email}`,
    termsVersion === null ? 'Terms: not accepted' : `Terms: ${termsVersion}, accepted ${termsAcceptedAt ?? ''}`,
    ...(website === null ? [] : [`Website: ${plain(website)}`]),
    ...(message === null ? [] : [`Message: ${plain(message)}`])
  ]
}
