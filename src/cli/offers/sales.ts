import type { Db } from '../../platform/db/database.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { createSale, endSale, listSales } from '../../shop/catalog/manage/sales.ts'
import type { SaleView } from '../../shop/catalog/manage/sales.ts'
import { untilText } from '../../shop/settings/shop-days.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import { collect, countOf } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table, timeText } from '../terminal/table.ts'

type CreateOptions = { percent: string; from?: string; to: string; category?: string; product: string[] }

export function define(program: ShopCommand): void {
  const group = program.command('sales').description('lower prices for some days; a sale begins and ends by itself')
  const creating = addCommand(
    group,
    'create <name>',
    'lower the prices of all products, or of some, by a percentage for some days',
    'sales create "Black Friday" --percent 20 --category light --from 2026-11-27 --to 2026-11-30'
  )
    .requiredOption('--percent <n>', 'how much less the products cost, such as 20')
    .requiredOption('--to <time>', 'its last day, or an ISO 8601 time')
    .option('--from <time>', 'its first day, or an ISO 8601 time (default: now)')
    .option('--category <category>', 'only products of this category, by slug or name')
    .option('--product <slug>', 'only this product; can be repeated', collect, [])
  runs(creating, ({ app, options, now }: Work<CreateOptions>, name: string) => {
    const { percent, product, ...others } = options
    const input = { name, percent: numberOrText(percent) ?? percent, slugs: product, ...others }
    return answer(app.db, createSale(app.db, input, now))
  })
  runs(addCommand(group, 'list', 'list the sales', 'sales list'), ({ app, now }) => {
    const found = listSales(app.db, now)
    const rows = found.map((sale) => [sale.name, ...cells(app.db, sale)])
    return {
      json: { sales: found.map(toJson) },
      human: table(['Name', 'Percent', 'From', 'Until', 'Products', 'State'], rows)
    }
  })
  runs(
    addCommand(group, 'end <name>', 'end a sale before its last day', 'sales end "Black Friday"'),
    ({ app, now }, name: string) => answer(app.db, endSale(app.db, name, now))
  )
}

function answer(db: Db, sale: SaleView): Answer {
  const [percent = '', from = '', until = ''] = cells(db, sale)
  const line = `${sale.name}: ${percent} off ${countOf(sale.products, 'product')} from ${from} until ${until}, ${sale.state}`
  return { json: { sale: toJson(sale) }, human: plain(line) }
}

function cells(db: Db, { percentBps, startsAt, endsAt, products, state }: SaleView): string[] {
  return [`${percentBps / 100} %`, timeText(startsAt), untilText(db, endsAt), String(products), state]
}

function toJson({ id, name, percentBps, startsAt, endsAt, createdAt, endedAt, products, state }: SaleView) {
  const times = { from: toIso(startsAt), to: toIso(endsAt), createdAt: toIso(createdAt), endedAt: toIsoOrNull(endedAt) }
  return { id, name, percent: percentBps / 100, ...times, products, state }
}
