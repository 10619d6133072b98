import { Option } from 'commander'
import { importCatalog } from '../../operations/catalog.ts'
import type { ImportOptions } from '../../operations/catalog.ts'
import type { Change, Counts, CountsByKind } from '../../shop/catalog/changes.ts'
import type { CatalogFile } from '../../shop/catalog/import/format.ts'
import type { ColumnMap, ReadOptions } from '../../shop/catalog/import/read-file.ts'
import type { ImportReport, FileError } from '../../shop/catalog/import/report.ts'
import { shopPlace } from '../../shop/settings/shop-days.ts'
import type { Answer, Watched } from '../terminal/output.ts'
import { describeFields, toJson } from './field-changes.ts'
import { describeImages, storeImages } from './offer-images.ts'
import { addToMap, countOf } from '../terminal/arguments.ts'
import { setting } from '../../shop/settings/settings.ts'
import { showProgress, whileShowing } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'
import type { Work, ShopCommand } from '../run.ts'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../errors.ts'
import { formatFileError } from '../../shop/catalog/import/report.ts'
import { readCatalogFile } from '../../shop/catalog/import/read-file.ts'

const listedLines = 40

type ImportFlags = {
  dryRun?: boolean
  withStock?: boolean
  allowPrivate?: boolean
  map?: ColumnMap
  slugsFrom?: 'name' | 'sku'
}

/** Adds the command that imports a catalog file. */
export function defineImport(offers: ShopCommand): void {
  const about = 'import products from JSON, a CSV export of WooCommerce or Shopify, or a table; - is standard input'
  const command = addCommand(offers, 'import <file>', about, 'offers import products.csv --dry-run')
    .option('--dry-run', 'only show what would change')
    .option('--with-stock', 'also set the stock of products that the shop has already')
    .option('--map <column=field>', 'name a column of a CSV file, such as "Preis=price"; repeatable', addToMap)
    .addOption(
      new Option('--slugs-from <source>', 'what the addresses of new products are made from, if the file has none')
        .choices(['sku', 'name'])
        .default('sku')
    )
    .option('--allow-private', 'also fetch pictures from private networks and this machine')
  runs(command, importFile)
}

/**
 * Imports a catalog file (see `importCatalog`), fetches its pictures and lists the changes.
 *
 * @throws AppError VALIDATION_FAILED; unless the output is JSON, every problem of the file has been printed
 */
async function importFile(work: Work<ImportFlags>, path: string): Promise<Answer> {
  const { app, now } = work
  const { dryRun = false, withStock = false, map, slugsFrom } = work.options
  const { file, report } = await loadCatalogFile(path, { ...shopPlace(app.db), map, slugsFrom }, work)
  const { counts, changes } = await apply(work, file, { dryRun, withStock }, now)
  const images = dryRun ? { stored: 0, failed: [] } : await storeImages(app, work, work.options)
  const affiliates = file.affiliates.length
  return {
    json: {
      ...byOutcome(counts),
      dryRun,
      changes: changes
        .filter(({ outcome }) => outcome !== 'unchanged')
        .map((change) => ({ ...change, fields: toJson(change.fields) })),
      report,
      images
    },
    human: [
      ...describeChanges(changes, setting(app.db, 'shop.currency')),
      ...describeReport(report),
      ...(withStock || !keepsStock(file, changes)
        ? []
        : ['The stock of products that the shop has already is not changed. Pass --with-stock to set it.']),
      ...(affiliates === 0 ? [] : [`${affiliates} affiliates not imported: use "shopstead seed" for them.`]),
      ...describeCounts(counts),
      ...(images.stored + images.failed.length === 0 ? [] : describeImages(images)),
      ...(dryRun ? ['Nothing was changed: this was a dry run.'] : [])
    ]
  }
}

/** Whether the file has the stock of a product that the shop had before. */
function keepsStock({ products }: CatalogFile, changes: readonly Change[]): boolean {
  const known = new Set(changes.flatMap(({ key, outcome }) => (outcome === 'created' ? [] : [key])))
  return products.some(({ slug, stock, variations = [] }) => {
    const isCounted = typeof stock === 'number' || variations.some((variation) => variation.stock !== null)
    return isCounted && known.has(slug)
  })
}

async function apply(work: Work<object>, file: CatalogFile, options: ImportOptions, now: number) {
  const progress = showProgress(work)
  const all = file.products.length
  progress.step(`checking ${all} products`)
  const onProgress = (done: number): void => progress.step(`${done} of ${all} products`)
  const { interruption } = work.terminal
  return importCatalog(work.app, file, { ...options, onProgress, interruption }, now).finally(progress.done)
}

/** A line for each product and coupon that is new or changed, and below it one for each of its fields that changed. */
function describeChanges(changes: readonly Change[], currency: string): string[] {
  const lines = changes
    .filter(({ outcome }) => outcome !== 'unchanged')
    .flatMap(({ kind, key, outcome, fields }) => [
      `${outcome} ${kind} ${key}`,
      ...describeFields(fields, currency).map((line) => `  ${line}`)
    ])
  const left = lines.length - listedLines
  return left > 0
    ? [...lines.slice(0, listedLines), `and ${countOf(left, 'more line')}; --json has all changes`]
    : lines
}

function describeReport({ ignored, unpublished, warnings }: ImportReport): string[] {
  return [
    ...ignored.map(({ column, count, why }) => `Left out: ${count} of ${column}. ${why}`),
    ...unpublished.map(({ count, why }) => `Unpublished: ${count === 1 ? 'one product' : `${count} products`}. ${why}`),
    ...warnings
  ]
}

/**
 * Reads a catalog file; `-` is standard input. Unless the output is JSON, it prints every problem of the file.
 *
 * @throws AppError NOT_FOUND; VALIDATION_FAILED; USAGE
 */
export async function loadCatalogFile(
  path: string,
  options: ReadOptions,
  watched: Watched
): Promise<{ file: CatalogFile; report: ImportReport }> {
  const content = path === '-' ? await buffer(watched.terminal.stdin) : readInput(path)
  try {
    const read = whileShowing(watched, `reading ${path}`, () => readCatalogFile(content, options))
    return { ...read, file: { ...read.file, folder: path === '-' ? process.cwd() : dirname(resolve(path)) } }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    if (!watched.json) for (const line of problemLines(error)) watched.terminal.messages.log(line)
    // A command accepts several files, so the error names the file.
    throw new AppError(error.code, `${path}: ${error.message}`, error.details, { cause: error })
  }
}

/** The operator typed the path, so the message contains the system's reason. */
function readInput(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('NOT_FOUND', `The file cannot be read: ${reason}.`, {}, { cause })
  }
}

function problemLines({ details: { errors } }: AppError): string[] {
  return Array.isArray(errors) ? errors.map((error: FileError) => `  ${formatFileError(error)}`) : []
}

/** `{created: {products: 3, …}, updated: {…}, unchanged: {…}}` */
export function byOutcome(counts: CountsByKind): Record<keyof Counts, Record<string, number>> {
  const numbers = (outcome: keyof Counts) =>
    Object.fromEntries(Object.entries(counts).map(([kind, numbersOf]) => [kind, numbersOf[outcome]]))
  return { created: numbers('created'), updated: numbers('updated'), unchanged: numbers('unchanged') }
}

/** A line for products, and one for each other kind that the file contains. */
export function describeCounts(counts: CountsByKind): string[] {
  return Object.entries(counts).flatMap(([kind, { created, updated, unchanged }]) => {
    const isAbsent = kind !== 'products' && created + updated + unchanged === 0
    return isAbsent ? [] : [`${kind}: ${created} created, ${updated} updated, ${unchanged} unchanged`]
  })
}
