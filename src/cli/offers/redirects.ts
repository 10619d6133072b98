import { AppError } from '../../errors.ts'
import { toCsv } from '../../platform/csv.ts'
import { readTable, renameColumns } from '../../shop/catalog/import/csv-table.ts'
import { findRedirect, listRedirects, removeRedirect, setRedirect } from '../../shop/redirects/redirects.ts'
import type { RedirectTarget } from '../../shop/redirects/redirects.ts'
import { importRedirects } from '../../shop/redirects/import-redirects.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import { addToMap, countOf } from '../terminal/arguments.ts'
import { readInput, writeCsv } from '../terminal/files.ts'
import { JsonList } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { plain, table } from '../terminal/table.ts'

type AddOptions = { product?: string; category?: string; to?: string }
type ImportOptions = { map?: Readonly<Record<string, string>>; dryRun?: boolean }

export function define(program: ShopCommand): void {
  const group = program.command('redirects').description('old addresses and where each leads now')
  const listing = addCommand(group, 'list', 'list the redirects', 'redirects list --csv redirects.csv')
  runs(listing.option('--csv <file>', 'write them to a new CSV file, which import reads'), list)
  const adding = addCommand(
    group,
    'add <from>',
    'let an old address lead elsewhere, for good (301)',
    'redirects add /product/old-mug --product mug'
  )
    .option('--product <slug>', 'to this product, also when its slug changes')
    .option('--category <slug>', 'to the products of this category')
    .option('--to <path-or-url>', 'to a path of the site, or to an address elsewhere')
  runs(adding, ({ app, options, now }: Work<AddOptions>, from: string) => {
    const redirect = setRedirect(app, from, targetOf(options), now)
    return { json: { redirect }, human: plain(`${redirect.from} leads to ${redirect.to}`) }
  })
  runs(
    addCommand(group, 'show <address>', 'show where an old address leads', 'redirects show /product/old-mug'),
    ({ app }, address: string) => {
      const to = findRedirect(app, address) ?? null
      return { json: { to }, human: to === null ? 'It leads nowhere.' : plain(to) }
    }
  )
  runs(
    addCommand(group, 'remove <from>', 'remove a redirect', 'redirects remove /product/old-mug'),
    ({ app }, from: string) => {
      removeRedirect(app.db, from)
      return { json: { removed: from }, human: plain(`${from} leads nowhere any more.`) }
    }
  )
  const importing = addCommand(
    group,
    'import <file>',
    'read redirects from a CSV with the columns from and to, also the export of Shopify',
    'redirects import redirects.csv --map "Old=from" --map "New=to"'
  )
    .option('--map <column=name>', 'a column of the file, and the name that is expected; can be repeated', addToMap)
    .option('--dry-run', 'only check the file, and change nothing')
  runs(importing, importFile)
}

/** @throws AppError USAGE unless exactly one target is given */
function targetOf({ product, category, to }: AddOptions): RedirectTarget {
  const given = [
    ...(product === undefined ? [] : [{ product }]),
    ...(category === undefined ? [] : [{ category }]),
    ...(to === undefined ? [] : [{ to }])
  ]
  const [target, ...others] = given
  if (target === undefined || others.length > 0)
    throw new AppError('USAGE', 'Pass one of --product, --category and --to.')
  return target
}

function list({ app, options }: Work<{ csv?: string }>): Answer {
  const rows = () => listRedirects(app)
  const { csv } = options
  if (csv !== undefined) {
    const written = [...rows()].map(({ from, to }) => [from, to])
    writeCsv(csv, toCsv(['from', 'to'], written))
    return {
      json: { file: csv, redirects: written.length },
      human: `${countOf(written.length, 'redirect')} written to ${csv}.`
    }
  }
  const human = table(
    ['From', 'To'],
    Iterator.from(rows()).map(({ from, to }) => [from, to]),
    'There are no redirects.'
  )
  return { json: new JsonList('redirects', rows()), human }
}

function importFile({ app, options, now }: Work<ImportOptions>, file: string): Answer {
  const names = new Map(Object.entries(options.map ?? {}))
  const text = new TextDecoder('utf-8', { fatal: false }).decode(readInput(file))
  const named = renameColumns(readTable(text), (column) => names.get(column) ?? column)
  const { read, changed } = importRedirects(app, named, { isDryRun: options.dryRun === true, now })
  const what =
    options.dryRun === true ? 'Nothing was changed: this was a dry run.' : `${countOf(changed, 'redirect')} set.`
  return {
    json: { read, changed, dryRun: options.dryRun === true },
    human: [`${countOf(read, 'redirect')} read.`, what]
  }
}
