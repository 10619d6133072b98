import type { ShopCommand, Work } from '../run.ts'
import { AppError } from '../../errors.ts'
import { formatMoney, toMinor } from '../../platform/money.ts'
import type { ShippingZone } from '../../shop/shipping/input.ts'
import { setting } from '../../shop/settings/settings.ts'
import {
  changeZone,
  getZone,
  removeMethod,
  removeZone,
  exportShipping,
  toZoneEntry,
  withMethod
} from '../../shop/shipping/zones.ts'
import type { ZoneEntry } from '../../shop/shipping/zones.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import { orNone } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import { table } from '../terminal/table.ts'

type SetOptions = {
  countries?: string
  method?: string
  name?: string
  amount?: string
  freeFrom?: string
  perKg?: string
  maxWeight?: string
  estimate?: string
  pickup?: boolean
}

export function define(program: ShopCommand): void {
  const group = program.command('shipping').description('shipping zones and methods')
  runs(addCommand(group, 'list', 'list the zones with their methods', 'shipping list'), list)
  const example = 'shipping set Germany --countries DE --method parcel --name Parcel --amount 4.90 --free-from 50'
  const set = addCommand(group, 'set <zone>', 'create or change a zone, and one of its methods', example)
    .option('--countries <list>', 'its countries, such as DE,AT; "*" for all that are in no other zone')
    .option('--method <id>', 'the method to create or change')
    .option('--name <name>', 'the name of the method that buyers see')
    .option('--amount <n>', "what it costs, in the shop's currency")
    .option('--free-from <n>', 'from this sum of the goods after discounts it costs nothing; "none" for never')
    .option('--per-kg <n>', 'what each kilogram adds, in proportion to the weight; "none" for nothing')
    .option('--max-weight <grams>', 'the heaviest cart that it ships; "none" for any')
    .option('--estimate <text>', 'how long it takes, as buyers see it; "none" for no estimate')
    .option('--pickup', 'the buyer picks the goods up in the shop, and gives no address')
    .option('--no-pickup', 'the method ships')
  runs(set, setZone)
  const remove = addCommand(
    group,
    'remove <zone>',
    'remove a zone, or one of its methods; orders keep their shipping',
    'shipping remove Germany --method express --yes'
  )
    .option('--method <id>', 'remove only this method')
    .option('--yes', 'do not ask')
  runs(remove, removeFrom)
}

const head = ['Zone', 'Countries', 'Method', 'Name', 'Costs', 'Estimate']

function list({ app }: Work<object>): Answer {
  const currency = setting(app.db, 'shop.currency')
  const zones = exportShipping(app.db, currency)
  const rows = zones.flatMap((zone) => rowsOf(zone, currency))
  return { json: { zones }, human: table(head, rows, 'There are no shipping zones: shipping costs nothing.') }
}

/** @throws AppError VALIDATION_FAILED; USAGE for options of a method without --method */
function setZone({ app, options }: Work<SetOptions>, name: string): Answer {
  const { countries, method, json: _json, dataDir: _dataDir, ...fields } = options
  if (method === undefined && Object.keys(fields).length > 0) throw new AppError('USAGE', 'Pass --method.')
  const zone = changeZone(app.db, name, (known) => ({
    ...known,
    ...(countries === undefined ? {} : { countries: readCountries(countries) }),
    ...(method === undefined ? {} : { methods: withMethod(known.methods, method, changesOf(fields)) })
  }))
  return answer(zone, setting(app.db, 'shop.currency'))
}

async function removeFrom(
  { app, options, terminal }: Work<{ method?: string; yes?: boolean }>,
  name: string
): Promise<Answer> {
  const { method } = options
  getZone(app.db, name)
  const what = method === undefined ? `the zone ${name}` : `the method ${method} of the zone ${name}`
  await confirmOrRefuse(terminal, `Remove ${what}?`, options)
  if (method === undefined) removeZone(app.db, name)
  const left = method === undefined ? null : removeMethod(app.db, name, method)
  if (left !== null) return answer(left, setting(app.db, 'shop.currency'))
  return { json: { zone: null }, human: `The zone ${name} was removed.` }
}

function readCountries(text: string): string | string[] {
  return text.trim() === '*' ? '*' : text.split(',').filter((code) => code.trim() !== '')
}

type MethodFields = Omit<SetOptions, 'countries' | 'method'>

function changesOf(fields: MethodFields): object {
  const { name, amount, freeFrom, perKg, maxWeight, estimate, pickup } = fields
  return {
    name,
    amount,
    freeFrom: orNone(freeFrom),
    perKg: orNone(perKg),
    maxWeightGrams: numberOrText(orNone(maxWeight)),
    estimate: orNone(estimate),
    pickup
  }
}

function answer(zone: ShippingZone, currency: string): Answer {
  const entry = toZoneEntry(zone, currency)
  return {
    json: { zone: entry },
    human: table(head, rowsOf(entry, currency))
  }
}

function rowsOf({ zone, countries, methods }: ZoneEntry, currency: string): string[][] {
  const where = countries === '*' ? 'all others' : countries.join(', ')
  return methods.map((method, index) => [
    index === 0 ? zone : '',
    index === 0 ? where : '',
    method.id,
    method.name,
    costsOf(method, currency),
    method.estimate ?? ''
  ])
}

function costsOf(
  { amount, freeFrom, perKg, maxWeightGrams, pickup }: ZoneEntry['methods'][number],
  currency: string
): string {
  const money = (major: number | string): string => formatMoney(toMinor(major, currency), currency)
  return [
    money(amount),
    ...(perKg === null ? [] : [`plus ${money(perKg)} per kg`]),
    ...(freeFrom === null ? [] : [`free from ${money(freeFrom)}`]),
    ...(maxWeightGrams === null ? [] : [`up to ${maxWeightGrams} g`]),
    ...(pickup ? ['no address'] : [])
  ].join(', ')
}
