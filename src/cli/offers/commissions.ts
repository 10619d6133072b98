import type { Db } from '../../platform/db/database.ts'
import { parseRate } from '../../shop/affiliates/input.ts'
import { getAffiliate } from '../../shop/affiliates/find.ts'
import { addRate, endRate, goodsOfRate, listRates, toRate } from '../../shop/affiliates/rates.ts'
import type { NewRate, RateRow, RateView } from '../../shop/affiliates/rates.ts'
import { untilText } from '../../shop/settings/shop-days.ts'
import { AppError } from '../../errors.ts'
import { parseId } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeText } from '../terminal/table.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'

type AddOptions = Omit<NewRate, 'rateBps'> & { rate?: string; exclude?: boolean }

export function define(program: ShopCommand): void {
  const group = program
    .command('commissions')
    .description('commission rates of products, categories and coupons; affiliates set changes those of affiliates')
  const adding = addCommand(
    group,
    'add',
    'give a product, a category or a coupon a commission rate, for all affiliates or for one',
    'commissions add --category light --rate 5 --from 2026-11-27 --to 2026-11-30'
  )
    .option('--product <slug>', 'the product')
    .option('--category <category>', 'the category, by slug or name, with the categories below it')
    .option('--coupon <code>', 'the goods that this coupon is valid for, in the orders that use it')
    .option('--affiliate <code>', 'only for the orders of this affiliate')
    .option('--rate <percent>', 'the commission rate')
    .option('--exclude', 'these goods earn nothing, whatever other rates say')
    .option('--from <day>', 'its first day (default: now)')
    .option('--to <day>', 'its last day')
  runs(adding, ({ app, options, now }: Work<AddOptions>) => {
    const { rate, exclude = false, ...named } = options
    if ((rate === undefined) === !exclude) throw new AppError('USAGE', 'Pass either --rate or --exclude.')
    const things = [named.product, named.category, named.coupon].filter((thing) => thing !== undefined)
    if (things.length !== 1) throw new AppError('USAGE', 'Pass one of --product, --category and --coupon.')
    return answer(app.db, addRate(app.db, { ...named, rateBps: rate === undefined ? null : parseRate(rate) }, now), now)
  })
  const listing = addCommand(group, 'list', 'list the commission rates', 'commissions list --affiliate mira')
    .option('--affiliate <code>', 'only the rates of this affiliate')
    .option('--ended', 'also the rates that have ended')
  runs(listing, ({ app, options, now }: Work<{ affiliate?: string; ended?: boolean }>) => {
    const { affiliate, ended = false } = options
    const affiliateId = affiliate === undefined ? undefined : getAffiliate(app.db, affiliate).id
    const rates = listRates(app.db, { affiliateId, ended }, now)
    const rows = rates.map((rate) => [rate.id, ...cells(app.db, rate)])
    return { json: { rates }, human: table(['Id', 'For', 'Affiliate', 'Rate', 'From', 'Until', 'State'], rows) }
  })
  const ending = addCommand(
    group,
    'end <id>',
    'end a commission rate now; a planned one never begins',
    'commissions end 4'
  )
  runs(ending, ({ app, now }, id: string) => answer(app.db, endRate(app.db, parseId(id), now), now))
}

function answer(db: Db, row: RateRow, now: number): Answer {
  const rate = toRate(db, row, now)
  return { json: { rate }, human: rateLine(db, rate) }
}

/** A rate in one line. */
export function rateLine(db: Db, rate: RateView): string {
  const [goods, affiliate, percent, from, until, state] = cells(db, rate)
  const of = affiliate === '' ? '' : ` for ${affiliate}`
  const days = rate.to === null ? `from ${from} on` : `from ${from} until ${until}`
  return plain(`Rate ${rate.id}: ${goods}${of}: ${percent}, ${days}, ${state}`)
}

/** What a rate is for, the affiliate, the rate, its first and last day, and its state. */
function cells(db: Db, view: RateView): [string, string, string, string, string, string] {
  const { affiliate, rate, from, to, state } = view
  const percent = rate === null ? 'excluded' : `${rate} %`
  const until = to === null ? '' : untilText(db, Date.parse(to))
  return [goodsOfRate(view) ?? 'all goods', affiliate ?? '', percent, timeText(Date.parse(from)), until, state]
}
