import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { getUser } from '../../shop/accounts/find.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { findKind, grantByHand, revokeByHand } from '../../shop/benefits/operator-grants.ts'
import { benefitKinds } from '../../shop/benefits/kinds.ts'
import type { HandOption } from '../../shop/benefits/kinds/kind.ts'
import { benefitsAsJson, listBenefits } from '../../shop/benefits/list-benefits.ts'
import { grantKinds, grantKindsText } from '../../shop/catalog/grants.ts'
import type { GrantKind } from '../../shop/catalog/grants.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeCell, timeText } from '../terminal/table.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import type { Entitlements } from '../../shop/entitlements/shapes.ts'

export function define(program: ShopCommand): void {
  const group = program.command('benefits').description(
    Object.values(benefitKinds)
      .map(({ plural }) => plural)
      .join(', ')
  )
  const list = addCommand(
    group,
    'list <email>',
    "list a person's current and past benefits",
    'benefits list lena@shop.example'
  )
  runs(list, ({ app, now }, email: string) => answer(app, getUser(app.db, email), now))
  runs(defineGrant(group), grant)
  const usage = 'benefits revoke membership 7 --yes'
  const revocation = addCommand(
    group,
    'revoke <kind> <id>',
    'end one benefit now; "benefits list" shows the ids',
    usage
  )
  runs(revocation.option('--yes', 'do not ask for confirmation'), revoke)
}

function defineGrant(group: ShopCommand): ShopCommand {
  const example = 'benefits grant lena@shop.example membership --plan keepers-circle --period P1Y'
  const granting = addCommand(
    group,
    'grant <email> <kind>',
    `give a benefit without an order: ${grantKindsText}`,
    example
  )
  for (const { name, value, kinds, about } of handOptions()) {
    granting.option(`--${name}${value === null ? '' : ` ${value}`}`, `${kinds.join(', ')}: ${about}`)
  }
  return granting
}

type NamedOption = HandOption & { name: string; kinds: GrantKind[] }

/** The options of all kinds, each once, with the kinds that use it. */
function handOptions(): NamedOption[] {
  const options = new Map<string, NamedOption>()
  for (const kind of grantKinds) {
    for (const [name, option] of Object.entries(benefitKinds[kind].byHand.options)) {
      const known = options.get(name)
      if (known === undefined) options.set(name, { ...option, name, kinds: [kind] })
      else known.kinds.push(kind)
    }
  }
  return [...options.values()]
}

function grant({ app, options, now }: Work<Record<string, unknown>>, email: string, kind: string): Answer {
  const user = getUser(app.db, email)
  const said = handOptions().flatMap(({ name }) => (options[name] === undefined ? [] : [[name, options[name]]]))
  grantByHand(app.db, user.id, { kind, ...Object.fromEntries(said) }, now)
  return answer(app, user, now)
}

async function revoke(
  { app, options, now, terminal }: Work<{ yes?: boolean }>,
  kindText: string,
  idText: string
): Promise<Answer> {
  const kind = parseKind(kindText)
  if (!/^[1-9]\d{0,14}$/.test(idText))
    throw new AppError('USAGE', 'The id must be a whole number. "shopstead benefits list" shows it.')
  const id = Number(idText)
  await confirmOrRefuse(terminal, `End ${kind} ${id} now?`, options)
  const { gatewayId } = revokeByHand(app.db, kind, id, now)
  const charging = `The server cancels ${gatewayId} at Stripe within a minute; "shopstead orders reconcile" does it now.`
  return {
    json: { revoked: { kind, id, gatewayId } },
    human: [`${kind} ${id} has ended.`, ...(gatewayId === null ? [] : [charging])]
  }
}

function parseKind(text: string): GrantKind {
  const kind = findKind(text)
  if (kind === undefined) throw new AppError('USAGE', `The kind must be ${grantKindsText}.`)
  return kind
}

function answer(app: App, user: UserRow, now: number): Answer {
  const rows = listBenefits(app.db, user.id, now).map(({ kind, line }) => {
    return [kind, line.id, line.what, line.state, timeCell(line.until), line.orderId]
  })
  const human = table(['Kind', 'Id', 'What', 'State', 'Until', 'Order'], rows, `${user.email} has no benefits.`)
  return { json: { user: { id: user.id, email: user.email }, ...benefitsAsJson(app.db, user.id, now) }, human }
}

/** The lines about a person's orders, benefits and affiliate account. */
export function entitlementLines(
  { ordersSummary, affiliate, flags }: Entitlements,
  benefits: ReturnType<typeof listBenefits>
): string[] {
  const held = [
    ...benefits.map(({ kind, line: { what, state, until } }) => {
      return `${kind} ${what}: ${state}${until === null ? '' : `, until ${until}`}`
    }),
    ...(affiliate.status === null ? [] : [`Affiliate ${affiliate.id ?? ''}: ${affiliate.status}`]),
    ...(flags.hasProAccess ? ['Has pro access'] : [])
  ]
  const orders = `Orders: ${ordersSummary.totalOrders}${ordersSummary.lastOrderAt === null ? '' : `, the last ${timeText(ordersSummary.lastOrderAt)}`}`
  return [orders, ...(held.length === 0 ? ['No benefits.'] : held)]
}
