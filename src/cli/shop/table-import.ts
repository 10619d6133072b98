import type { MoveReport } from '../../operations/moving-in/move-in.ts'
import type { Remark } from '../../operations/moving-in/report.ts'
import type { TableKind } from '../../operations/moving-in/tables/import-tables.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { addToMap } from '../terminal/arguments.ts'
import { showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import type { Table } from '../terminal/table.ts'

type Flags = { map?: Readonly<Record<string, string>>; dryRun?: boolean; shop: string }

/** Adds `import <file>` to a group: it moves one table of another shop in. */
export function defineTableImport(group: ShopCommand, kind: TableKind, columns: string): void {
  const about = `move in from a CSV file of another shop, which needs the columns ${columns}. Run it again to bring what came since.`
  const name = group.name()
  runs(
    addCommand(group, 'import <file>', about, `${name} import ${name}.csv --dry-run`)
      .option('--dry-run', 'only show what would arrive')
      .option('--map <column=field>', 'name a column of the file, such as "Nummer=number"; repeatable', addToMap)
      .option('--shop <name>', 'the shop that the file is from, if you move in with several', 'csv'),
    async (work: Work<Flags>, path: string) => {
      const { importTables } = await import('../../operations/moving-in/tables/import-tables.ts')
      const { dryRun: isDryRun = false, map, shop } = work.options
      const progress = showProgress(work)
      const options = { isDryRun, map, onStep: progress.step, interruption: work.terminal.interruption }
      const report = await importTables(work.app, shop, [{ kind, path }], options).finally(progress.done)
      return moveAnswer(report)
    }
  )
}

/** The report of an import as the answer of its command. */
export function moveAnswer(report: MoveReport): Answer {
  return { json: report, human: describeMove(report) }
}

/** The counts and sums of each subject, and then what does not arrive or arrives differently. */
export function describeMove({ source, subjects, isDryRun }: MoveReport): (string | Table)[] {
  const head = ['Subject', 'Found', isDryRun ? 'Would arrive' : 'Arrived', 'Here before', 'Left out']
  const rows = subjects.map(({ subject, found, arrived, already, left }) => [subject, found, arrived, already, left])
  const sums = subjects.flatMap((each) => each.sums)
  return [
    source,
    table(head, rows),
    ...(sums.length === 0
      ? []
      : [
          table(
            ['Sum', 'Currency', 'Found', 'Arrived'],
            sums.map((sum) => [sum.name, sum.currency, sum.found, sum.arrived])
          )
        ]),
    ...subjects.flatMap(({ subject, leftOut }) => leftOut.map((remark) => `Left out of ${subject}: ${textOf(remark)}`)),
    ...subjects.flatMap(({ subject, changed }) => changed.map((remark) => `Changed in ${subject}: ${textOf(remark)}`)),
    ...(isDryRun ? ['Nothing was changed: this was a dry run.'] : [])
  ]
}

function textOf({ count, why, examples }: Remark): string {
  const named = examples.join(', ')
  return `${count} × ${why}${named === '' ? '' : ` (${named}${count > examples.length ? ', …' : ''})`}`
}
