import type { CountsByKind } from '../shop/catalog/changes.ts'
import { write } from '../platform/db/database.ts'
import type { Tx } from '../platform/db/database.ts'
import { applyCampaigns, applyPlans } from '../shop/benefits/plans.ts'
import { applyCatalogFile } from '../shop/catalog/apply-catalog.ts'
import type { Change } from '../shop/catalog/changes.ts'
import type { CatalogFile } from '../shop/catalog/import/format.ts'
import type { ImportReport } from '../shop/catalog/import/report.ts'
import { productUrl } from '../shop/catalog/product-url.ts'
import { dryRun } from '../shop/catalog/dry-run.ts'
import { setting } from '../shop/settings/settings.ts'
import { byOutcome, describeCounts, readCatalogueFile } from './catalogue-file.ts'
import type { Answer } from './output.ts'
import { whileShowing } from './progress.ts'
import type { Work } from './run.ts'

type Imported = { counts: CountsByKind; changes: Change[] }

const listedChanges = 40

/**
 * Takes over a catalogue file, whole or not at all. Stock becomes what the file says. Affiliates belong to people and are
 * left to `seed`.
 *
 * @throws AppError VALIDATION_FAILED; where a person reads along, every problem of the file has been printed.
 */
export function importFile(work: Work<{ dryRun?: boolean }>, path: string): Answer {
  const { app, now } = work
  const isDryRun = work.options.dryRun ?? false
  const { file, report } = readCatalogueFile(path, setting(app.db, 'shop.currency'), work)
  const urlOf = productUrl(app)
  const apply = (tx: Tx): Imported => applyFile(tx, file, urlOf, now)
  const { counts, changes } = whileShowing(work, `taking over ${file.products.length} products`, () =>
    isDryRun ? dryRun(app.db, apply) : write(app.db, apply)
  )
  const affiliates = file.affiliates.length
  return {
    json: {
      ...byOutcome(counts),
      dryRun: isDryRun,
      changes: changes.filter(({ outcome }) => outcome !== 'unchanged'),
      report
    },
    human: [
      ...describeChanges(changes),
      ...describeReport(report),
      ...(affiliates === 0 ? [] : [`${affiliates} affiliates left alone: "shopstead seed" takes them.`]),
      ...describeCounts(counts),
      ...(isDryRun ? ['Nothing was changed: this was a dry run.'] : [])
    ]
  }
}

function applyFile(tx: Tx, file: CatalogFile, urlOf: (slug: string) => string, now: number): Imported {
  const plans = applyPlans(tx, file.plans)
  const campaigns = applyCampaigns(tx, file.campaigns)
  const { products, coupons, changes } = applyCatalogFile(tx, file, { keepStock: false, urlOf }, now)
  return { counts: { products, coupons, plans, campaigns }, changes }
}

function describeChanges(changes: readonly Change[]): string[] {
  const lines = changes
    .filter(({ outcome }) => outcome !== 'unchanged')
    .map(
      ({ kind, key, outcome, fields }) =>
        `${outcome} ${kind} ${key}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`
    )
  const more = lines.length - listedChanges
  return more > 0 ? [...lines.slice(0, listedChanges), `and ${more} more`] : lines
}

function describeReport({ ignored, warnings }: ImportReport): string[] {
  return [...ignored.map(({ column, count, why }) => `Left out: ${count} of ${column}. ${why}`), ...warnings]
}
