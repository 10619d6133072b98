import { Option } from 'commander'
import { affiliateColumns, reportAffiliates } from '../operations/reports/affiliates-report.ts'
import { addDays, fittingUnit, units } from '../operations/reports/days.ts'
import type { Unit } from '../operations/reports/days.ts'
import { productColumns, reportProducts } from '../operations/reports/products-report.ts'
import { reportSales, salesColumns } from '../operations/reports/sales-report.ts'
import { reportStock, stockColumns } from '../operations/reports/stock-report.ts'
import { toDay } from '../platform/iso-time.ts'
import { shopDay } from '../shop/invoices/day.ts'
import type { ShopCommand } from './command.ts'
import { parseLimit } from './numbers.ts'
import { firstOfMonth, parseDays } from './period.ts'
import type { PeriodOptions } from './period.ts'
import { reportAnswer, withDays } from './report-answer.ts'
import type { FileOptions } from './report-answer.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

type Options = PeriodOptions & FileOptions
type BestOptions = Options & { limit: number }

/** Adds the reports that come from the shop's own orders. */
export function defineShopReports(group: ShopCommand): void {
  const sales = addCommand(
    group,
    'sales',
    'what was sold by day, week or month: orders, totals and refunds',
    'report sales --from 2026-01-01 --to 2026-12-31 --by month --html sales.html'
  ).addOption(new Option('--by <unit>', 'a row for each (default: what fits)').choices(units))
  runs(withDays(sales), 'migrated', (work: Work<Options & { by?: Unit }>) => {
    const days = parseDays(work.options, shopDay(work.app.db, work.now), firstOfMonth)
    return reportAnswer(work, reportSales(work.app.db, days, work.options.by ?? fittingUnit(days)), salesColumns)
  })
  const products = addCommand(group, 'products', 'what sold best', 'report products --from 2026-01-01 --limit 20')
  runs(withLimit(withDays(products)), 'migrated', (work: Work<BestOptions>) => {
    const days = parseDays(work.options, shopDay(work.app.db, work.now), firstOfMonth)
    return reportAnswer(work, reportProducts(work.app.db, days, work.options.limit), productColumns)
  })
  const affiliates = addCommand(
    group,
    'affiliates',
    'clicks, orders, conversion and commission of each affiliate, by days in UTC',
    'report affiliates --from 2026-01-01'
  )
  runs(withLimit(withDays(affiliates)), 'migrated', (work: Work<BestOptions>) => {
    const days = parseDays(work.options, toDay(work.now), firstOfMonth)
    return reportAnswer(work, reportAffiliates(work.app.db, days, work.options.limit), affiliateColumns)
  })
  const stock = addCommand(group, 'stock', 'what is sold out or low, and how long it lasts', 'report stock --low 10')
    .option('--low <n>', 'stock that counts as low', parseLimit, 5)
    .option('--all', 'also list what has enough stock')
  runs(
    withDays(stock, '29 days before the last day'),
    'migrated',
    (work: Work<Options & { low: number; all?: boolean }>) => {
      const today = shopDay(work.app.db, work.now)
      const { from, to } = parseDays(work.options, today, (last) => addDays(last, -29))
      // Days that have not come yet would make the stock seem to last longer.
      const days = { from, to: to > today && from <= today ? today : to }
      const { low, all = false } = work.options
      return reportAnswer(work, reportStock(work.app.db, days, { low, all }), stockColumns)
    }
  )
}

function withLimit(command: ShopCommand): ShopCommand {
  return command.option('--limit <n>', 'maximum number of rows', parseLimit, 100)
}
