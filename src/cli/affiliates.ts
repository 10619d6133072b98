import { Option } from 'commander'
import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { formatMoney } from '../platform/money.ts'
import { getUser } from '../shop/accounts/find.ts'
import { showAffiliate, toAdminAffiliate } from '../shop/referrals/affiliate-summary.ts'
import type { AdminAffiliate } from '../shop/referrals/affiliate-summary.ts'
import { createAffiliate } from '../shop/affiliates/create-affiliate.ts'
import { decideAffiliate } from '../shop/affiliates/decide.ts'
import type { Decision } from '../shop/affiliates/decide.ts'
import { getAffiliate, listAffiliates } from '../shop/affiliates/find.ts'
import { parseRate } from '../shop/affiliates/input.ts'
import { affiliateStatuses } from '../shop/affiliates/rows.ts'
import type { AffiliateRow, AffiliateStatus } from '../shop/affiliates/rows.ts'
import { plain, table } from './output.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

type CreateOptions = { user: string; code: string; rate?: string; status: AffiliateStatus }

const decisions: readonly { decision: Decision; about: string }[] = [
  { decision: 'approve', about: 'from now on the affiliate is credited; he is told by mail' },
  { decision: 'reject', about: 'turn an application down; the applicant is told by mail' },
  { decision: 'deactivate', about: 'credit the affiliate no longer; what he has earned stays his' }
]

export function define(program: ShopCommand): void {
  const group = program.command('affiliates').description('affiliates, named by code or id')
  const listing = addCommand(group, 'list', 'every affiliate', 'affiliates list --status pending').addOption(
    new Option('--status <status>', 'those in one state').choices(affiliateStatuses)
  )
  runs(listing, 'migrated', list)
  runs(
    addCommand(group, 'show <code>', 'one affiliate with visits and balance', 'affiliates show mira'),
    'migrated',
    show
  )
  const create = addCommand(
    group,
    'create',
    'make an account an affiliate',
    'affiliates create --user mira@shop.example --code mira --status active'
  )
    .requiredOption('--user <email-or-id>', 'whose account')
    .requiredOption('--code <code>', 'what links carry as ref')
    .option('--rate <percent>', "commission; without it the shop's affiliates.rate")
    .addOption(new Option('--status <status>', 'state to begin in').choices(affiliateStatuses).default('pending'))
  runs(create, 'migrated', ({ app, options, now }: Work<CreateOptions>) => {
    const { code, status } = options
    const rateBps = options.rate === undefined ? null : parseRate(options.rate)
    const userId = getUser(app.db, options.user).id
    return answer(app, createAffiliate(app.db, { userId, code, status, rateBps }, now))
  })
  for (const { decision, about } of decisions) {
    const deciding = addCommand(group, `${decision} <code>`, about, `affiliates ${decision} mira`)
    runs(deciding, 'migrated', ({ app, now }, code: string) =>
      answer(app, decideAffiliate(app.db, code, decision, now))
    )
  }
}

function list({ app, options }: Work<{ status?: AffiliateStatus }>): Answer {
  const filter = options.status === undefined ? {} : { status: options.status }
  const found = listAffiliates(app.db, filter).map((row) => toAdminAffiliate(app.db, row))
  const rows = found.map((row) => [row.code, row.status, `${row.rate} %`, row.email, row.createdAt])
  return { json: { affiliates: found }, human: table(['Code', 'State', 'Rate', 'Email', 'Since'], rows) }
}

function show({ app }: Work<object>, code: string): Answer {
  const shown = showAffiliate(app.db, getAffiliate(app.db, code))
  const { affiliate, balance, visits, campaigns } = shown
  const money = (minor: number): string => formatMoney(minor, balance.currency)
  const rows = campaigns.map((row) => [
    row.campaign ?? '(none)',
    row.visits,
    row.conversions,
    `${row.conversionRate} %`,
    money(row.earnedMinor)
  ])
  return {
    json: shown,
    human: [
      ...describe(affiliate),
      `Balance: ${money(balance.pendingMinor)} pending, ${money(balance.unpaidMinor)} unpaid, ${money(balance.paidMinor)} paid out`,
      `Visits: ${visits.visits}, of which ${visits.conversions} converted (${visits.conversionRate} %)`,
      ...(rows.length === 0 ? [] : [table(['Campaign', 'Visits', 'Converted', 'Rate', 'Earned'], rows)])
    ]
  }
}

function answer(app: App, row: AffiliateRow): Answer {
  const affiliate = toAdminAffiliate(app.db, row)
  return { json: { affiliate }, human: describe(affiliate) }
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
