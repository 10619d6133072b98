import { importCatalogue } from '../operations/catalogue.ts'
import type { Change } from '../shop/catalog/changes.ts'
import type { ImportReport } from '../shop/catalog/import/report.ts'
import { setting } from '../shop/settings/settings.ts'
import { byOutcome, describeCounts, readCatalogueFile } from './catalogue-file.ts'
import type { Answer } from './output.ts'
import { describeImages, storeImages } from './offer-images.ts'
import { whileShowing } from './progress.ts'
import type { Work } from './run.ts'

const listedChanges = 40

/**
 * Imports a catalogue file (see `importCatalogue`), fetches its pictures and lists the changes.
 *
 * @throws AppError VALIDATION_FAILED; unless the output is JSON, every problem of the file has been printed
 */
export async function importFile(
  work: Work<{ dryRun?: boolean; allowPrivate?: boolean }>,
  path: string
): Promise<Answer> {
  const { app, now } = work
  const { dryRun = false } = work.options
  const { file, report } = readCatalogueFile(path, setting(app.db, 'shop.currency'), work)
  const { counts, changes } = whileShowing(work, `importing ${file.products.length} products`, () =>
    importCatalogue(app, file, { dryRun }, now)
  )
  const images = dryRun ? { stored: 0, failed: [] } : await storeImages(app, work, work.options)
  const affiliates = file.affiliates.length
  return {
    json: {
      ...byOutcome(counts),
      dryRun,
      changes: changes.filter(({ outcome }) => outcome !== 'unchanged'),
      report,
      images
    },
    human: [
      ...describeChanges(changes),
      ...describeReport(report),
      ...(affiliates === 0 ? [] : [`${affiliates} affiliates not imported: use "shopstead seed" for them.`]),
      ...describeCounts(counts),
      ...(images.stored + images.failed.length === 0 ? [] : describeImages(images)),
      ...(dryRun ? ['Nothing was changed: this was a dry run.'] : [])
    ]
  }
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
