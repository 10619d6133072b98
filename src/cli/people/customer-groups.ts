import { Option } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { toCsv, toCsvRows } from '../../platform/csv.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import { toIso } from '../../platform/iso-time.ts'
import { formatMoney, toMinor } from '../../platform/money.ts'
import { decodeText } from '../../shop/catalog/import/csv-table.ts'
import {
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  setGroup,
  taxViews,
  toGroup
} from '../../shop/groups/groups.ts'
import type { GroupRow, GroupView } from '../../shop/groups/groups.ts'
import { addMembers, listMembers, removeMember } from '../../shop/groups/members.ts'
import { importPriceList } from '../../shop/groups/import-prices.ts'
import { listGroupPrices, setGroupPrice } from '../../shop/groups/price-lists.ts'
import type { PriceListRow } from '../../shop/groups/price-lists.ts'
import { setting } from '../../shop/settings/settings.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { countOf } from '../terminal/arguments.ts'
import { readInput, writeCsv } from '../terminal/files.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeText } from '../terminal/table.ts'

type FieldOptions = { name?: string; percent?: string | false; tax?: string; membership?: string | false }

export function define(program: ShopCommand): void {
  const group = program
    .command('groups')
    .description('groups of customers with prices of their own, such as resellers or members')
  defineGroups(group)
  defineMembers(group)
  definePrices(group)
}

function defineGroups(group: ShopCommand): void {
  runs(addCommand(group, 'list', 'list the groups of customers', 'groups list'), ({ app }) => {
    const found = listGroups(app.db).map((row) => toGroup(app.db, row))
    const rows = found.map((view) => [view.slug, view.name, ...cells(view)])
    return {
      json: { groups: found },
      human: table(['Group', 'Name', 'Percent', 'Prices', 'Tax', 'Members', 'Membership'], rows)
    }
  })
  const showing = addCommand(group, 'show <group>', 'show a group with its members', 'groups show wholesale')
  runs(showing, ({ app }, slug: string) => showGroup(app, getGroup(app.db, slug)))
  const creating = withFields(
    addCommand(
      group,
      'create <group>',
      'create a group of customers',
      'groups create wholesale --percent 30 --tax without'
    )
  )
  runs(creating, ({ app, options, now }: Work<FieldOptions>, slug: string) =>
    answer(app, createGroup(app.db, { slug, ...fieldsOf(options) }, now))
  )
  const setting = withFields(
    addCommand(group, 'set <group>', 'change a group; for purchases from now on', 'groups set wholesale --percent 25')
  )
    .option('--no-percent', 'only the price list counts')
    .option('--no-membership', 'no membership puts its holder into the group any more')
  runs(setting, ({ app, options }: Work<FieldOptions>, slug: string) => {
    const fields = fieldsOf(options)
    if (Object.values(fields).every((value) => value === undefined))
      throw new AppError('USAGE', 'Pass what to change: --name, --percent, --tax or --membership.')
    return answer(app, setGroup(app.db, slug, fields))
  })
  const deleting = addCommand(
    group,
    'delete <group>',
    'delete a group with its price list; orders keep their prices',
    'groups delete wholesale --yes'
  ).option('--yes', 'do not ask for confirmation')
  runs(deleting, async ({ app, options, terminal }: Work<{ yes?: boolean }>, slug: string) => {
    const { members, prices } = toGroup(app.db, getGroup(app.db, slug))
    const what = `${countOf(members, 'member')} and ${countOf(prices, 'price')}`
    await confirmOrRefuse(terminal, `Delete the group ${slug} with ${what}?`, options)
    deleteGroup(app.db, slug)
    return { json: { deleted: { slug, members, prices } }, human: `The group ${slug} is deleted.` }
  })
}

function withFields(command: ShopCommand): ShopCommand {
  return command
    .option('--name <name>', 'the name that its buyers read (default: the name of the group)')
    .option('--percent <n>', 'how much less than the regular price its buyers pay, such as 30')
    .addOption(
      new Option('--tax <way>', 'whether its buyers see prices with or without tax, or as everyone').choices(taxViews)
    )
    .option('--membership <plan>', 'accounts with an active membership of this plan are in the group, too')
}

function fieldsOf({ name, percent, tax, membership }: FieldOptions) {
  return {
    name,
    percent: percent === false ? null : numberOrText(percent),
    tax,
    membership: membership === false ? null : membership
  }
}

function defineMembers(group: ShopCommand): void {
  const adding = addCommand(
    group,
    'add <group> <email-or-id...>',
    'put accounts into a group, all or none',
    'groups add wholesale lena@shop.example'
  )
  runs(adding, ({ app, now }, slug: string, names: string[]) => answer(app, addMembers(app.db, slug, names, now)))
  const removing = addCommand(
    group,
    'remove <group> <email-or-id>',
    'take an account out of a group',
    'groups remove wholesale lena@shop.example'
  )
  runs(removing, ({ app, now }, slug: string, name: string) => answer(app, removeMember(app.db, slug, name, now)))
}

function definePrices(group: ShopCommand): void {
  const pricing = addCommand(
    group,
    'price <group> <product> [amount]',
    'put a price on the price list of a group; a variation as SLUG/SKU',
    'groups price wholesale storm-lantern 31.50'
  ).option('--none', 'take it off the price list')
  runs(pricing, ({ app, options }: Work<{ none?: boolean }>, slug: string, product: string, amount?: string) => {
    const { none = false } = options
    if ((amount === undefined) !== none) throw new AppError('USAGE', 'Pass the price, or --none.')
    const [productSlug = '', ...sku] = product.split('/')
    const listed = { slug: productSlug, sku: sku.length === 0 ? null : sku.join('/'), price: amount ?? null }
    return answer(app, setGroupPrice(app.db, slug, listed))
  })
  const listing = addCommand(
    group,
    'prices <group>',
    'show the price list of a group beside the regular prices',
    'groups prices wholesale --csv wholesale.csv'
  ).option('--csv <file>', 'write a new CSV file, which import-prices reads')
  runs(listing, prices)
  const importing = addCommand(
    group,
    'import-prices <group> <file>',
    'read prices from a CSV file with the columns slug and price, and optionally sku and currency; an empty price takes a product off the list',
    'groups import-prices wholesale wholesale.csv'
  )
  runs(importing, ({ app }, slug: string, file: string) => {
    const read = importPriceList(app.db, slug, decodeText(readInput(file)).text)
    const { json, human } = answer(app, read.group)
    return { json, human: [`${countOf(read.prices, 'price')} read.`, human].flat() }
  })
}

function prices({ app, options }: Work<{ csv?: string }>, slug: string): Answer {
  const group = getGroup(app.db, slug)
  const currency = setting(app.db, 'shop.currency')
  const money = (amount: number): string => formatMoney(toMinor(amount, currency), currency)
  const listed = listGroupPrices(app.db, group)
  if (options.csv !== undefined) {
    writeCsv(options.csv, csvOf(listed, currency))
    return { json: { file: options.csv }, human: `Written to ${options.csv}.` }
  }
  const rows = Iterator.from(listed).map(({ slug, sku, name, price, regular }) => {
    return [sku === null ? slug : `${slug}/${sku}`, name, money(price), money(regular)]
  })
  return {
    json: new JsonList('prices', listGroupPrices(app.db, group), () => ({ currency })),
    human: table(['Product', 'Name', 'Price', 'Regular price'], rows, `The group ${slug} has no price list.`)
  }
}

function* csvOf(listed: Iterable<PriceListRow>, currency: string): Generator<string, void> {
  yield toCsv(['slug', 'sku', 'name', 'price', 'regular', 'currency'], [])
  for (const { slug, sku, name, price, regular } of listed)
    yield toCsvRows([[slug, sku, name, price, regular, currency]])
}

function showGroup(app: App, group: GroupRow): Answer {
  const { json, human } = answer(app, group)
  const members = () =>
    listMembers(app.db, group, ({ userId, email, displayName, addedAt }) => ({
      id: userId,
      email,
      displayName,
      addedAt: toIso(addedAt)
    }))
  const rows = Iterator.from(members()).map(({ id, email, displayName, addedAt }) => [
    id,
    email,
    displayName,
    timeText(addedAt)
  ])
  return {
    json: new JsonList('members', members(), () => json),
    human: [...human, table(['Id', 'Email', 'Name', 'Since'], rows, 'No account was added by hand.')]
  }
}

function answer({ db }: App, row: GroupRow): { json: { group: GroupView }; human: string[] } {
  const group = toGroup(db, row)
  const [percent = '', listed = '', tax = '', members = '', membership = ''] = cells(group)
  const off = percent === '' ? 'regular prices' : `${percent} off the regular prices`
  const byPlan = membership === '' ? '' : `, and the accounts with the membership ${membership}`
  return {
    json: { group },
    human: [
      plain(`${group.slug} (${group.name}): ${off}, ${listed} on the price list, ${taxWords[tax] ?? ''}`),
      plain(`Members: ${members}${byPlan}`)
    ]
  }
}

const taxWords: Readonly<Record<string, string>> = {
  shop: 'prices shown as to everyone',
  with: 'prices shown with tax',
  without: 'prices shown without tax'
}

function cells({ percent, prices, tax, members, membership }: GroupView): string[] {
  return [percent === null ? '' : `${percent} %`, String(prices), tax, String(members), membership ?? '']
}
