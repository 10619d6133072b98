import type { ShopCommand } from './command.ts'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { write } from '../platform/db/database.ts'
import { parseWith } from '../platform/http/zod-errors.ts'
import { formatMoney, toMinor } from '../platform/money.ts'
import { getUser } from '../shop/accounts/find.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { grantByHand, revokeByHand } from '../shop/benefits/by-hand.ts'
import type { HandGrant } from '../shop/benefits/by-hand.ts'
import { benefitKinds } from '../shop/benefits/end-benefit.ts'
import type { BenefitKind } from '../shop/benefits/end-benefit.ts'
import { handGrantSchema } from '../shop/benefits/input.ts'
import { listBenefits } from '../shop/benefits/list-benefits.ts'
import { getProduct } from '../shop/catalog/products.ts'
import { setting } from '../shop/settings/settings.ts'
import { table } from './output.ts'
import type { Answer } from './output.ts'
import { addCommand, confirmOrRefuse, runs } from './run.ts'
import type { Work } from './run.ts'

type GrantOptions = {
  plan?: string
  period?: string
  product?: string
  interval?: string
  pro?: boolean
  course?: string
  file?: string
  days?: string
  amount?: string
  campaign?: string
}

const kinds = benefitKinds.join(', ')

export function define(program: ShopCommand): void {
  const group = program.command('benefits').description('memberships, subscriptions, courses, downloads and donations')
  const list = addCommand(group, 'list <email>', 'what a person has and had', 'benefits list lena@shop.example')
  runs(list, 'migrated', ({ app, now }, email: string) => answer(app, getUser(app.db, email), now))
  runs(defineGrant(group), 'migrated', grant)
  const usage = 'benefits revoke membership 7 --yes'
  const revocation = addCommand(
    group,
    'revoke <kind> <id>',
    'end one benefit at once; benefits list has the ids',
    usage
  )
  runs(revocation.option('--yes', 'do not ask'), 'migrated', revoke)
}

function defineGrant(group: ShopCommand): ShopCommand {
  const example = 'benefits grant lena@shop.example membership --plan keepers-circle --period P1Y'
  return addCommand(group, 'grant <email> <kind>', `give a benefit that no order pays for: ${kinds}`, example)
    .option('--plan <slug>', 'membership: its plan')
    .option('--period <period>', 'membership: P1Y, P1M or P14D; for life without')
    .option('--product <slug>', 'subscription, download: the product it belongs to')
    .option('--interval <interval>', 'subscription: month or year')
    .option('--pro', 'subscription: gives pro access')
    .option('--course <name>', 'course: its name')
    .option('--file <path>', 'download: path inside data/downloads')
    .option('--days <n>', 'download: how long; for ever without')
    .option('--amount <n>', "donation: what was given, in the shop's currency")
    .option('--campaign <slug>', 'donation: what it is for')
}

function grant({ app, options, now }: Work<GrantOptions>, email: string, kind: string): Answer {
  const user = getUser(app.db, email)
  if (user.status === 'erased') throw new AppError('CONFLICT', 'This account has been erased.')
  const given = parseGrant(app, options, kind)
  write(app.db, (tx) => grantByHand(tx, user.id, given, now))
  return answer(app, user, now)
}

/** @throws AppError VALIDATION_FAILED naming the options that are missing or not this kind's; NOT_FOUND for a product. */
function parseGrant(app: App, options: GrantOptions, kind: string): HandGrant {
  const { plan, period, product, interval, pro, course, file, days, amount, campaign } = options
  const given = { plan, period, product, interval, pro, course, file, days: toNumber(days), amount, campaign }
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const currency = setting(app.db, 'shop.currency')
  const data = parseWith(handGrantSchema(currency), { kind, ...said })
  if (data.kind === 'donation') return { ...data, amountMinor: data.amount, currency }
  if (data.kind === 'subscription' || data.kind === 'download') {
    return { ...data, productId: getProduct(app.db, data.product).id }
  }
  return data
}

async function revoke(
  { app, options, now, terminal }: Work<{ yes?: boolean }>,
  kindText: string,
  idText: string
): Promise<Answer> {
  const kind = parseKind(kindText)
  if (!/^[1-9]\d{0,14}$/.test(idText)) throw new AppError('USAGE', 'The id is a whole number: "benefits list" has it.')
  const id = Number(idText)
  await confirmOrRefuse(terminal, `End ${kind} ${id} now?`, options)
  const { gatewayId } = write(app.db, (tx) => revokeByHand(tx, kind, id, now))
  const charging = `The server cancels ${gatewayId} at Stripe within a minute; "shopstead orders reconcile" does it now.`
  return {
    json: { revoked: { kind, id, gatewayId } },
    human: [`${kind} ${id} has ended.`, ...(gatewayId === null ? [] : [charging])]
  }
}

function parseKind(text: string): BenefitKind {
  const kind = benefitKinds.find((known) => known === text)
  if (kind === undefined) throw new AppError('USAGE', `A benefit is one of ${kinds}.`)
  return kind
}

function answer(app: App, user: UserRow, now: number): Answer {
  const benefits = listBenefits(app.db, user.id, now)
  const rows = [
    ...benefits.memberships.map((row) => ['membership', row.id, row.planSlug, row.status, row.expiresAt, row.orderId]),
    ...benefits.subscriptions.map((row) => {
      return ['subscription', row.id, row.name, row.status, row.currentPeriodEnd, row.orderId]
    }),
    ...benefits.courses.map((row) => ['course', row.id, row.course, 'enrolled', null, row.orderId]),
    ...benefits.downloads.map((row) => ['download', row.id, row.file, 'given', row.expiresAt, row.orderId]),
    ...benefits.donations.map((row) => {
      const what = formatMoney(toMinor(row.amount, row.currency), row.currency)
      return ['donation', row.id, row.campaign ?? 'donation', what, null, row.orderId]
    })
  ]
  const human =
    rows.length === 0
      ? `${user.email} has no benefits.`
      : table(['Kind', 'Id', 'What', 'State', 'Until', 'Order'], rows)
  return { json: { user: { id: user.id, email: user.email }, ...benefits }, human }
}

function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text
}
