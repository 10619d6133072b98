import { InvalidArgumentError } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import { AppError } from '../../errors.ts'
import type { CatalogFile } from '../../shop/catalog/import/format.ts'
import { shopPlace } from '../../shop/settings/shop-days.ts'
import { byOutcome, describeCounts, loadCatalogFile } from '../offers/import-file.ts'
import type { Answer } from '../terminal/output.ts'
import { describeImages, storeImages } from '../offers/offer-images.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import { costlyChanges } from '../../shop/affiliates/create.ts'

type SeedOptions = { demo?: boolean; orders?: number; yes?: boolean }

export function define(program: ShopCommand): void {
  const about = 'fill the shop from catalog files, or with the demo shop; a second run changes nothing'
  const command = addCommand(program, 'seed [files...]', about, 'seed offers.json')
    .option('--demo', 'the demo shop: catalog, people and a year of orders (not in production)')
    .option('--orders <n>', 'generate orders until the shop has this many (not in production)', parseCount)
  runs(command.option('--yes', 'do not ask before a higher rate, or an affiliate that becomes active again'), seed)
}

async function seed(work: Work<SeedOptions>, paths: string[]): Promise<Answer> {
  const { app, now } = work
  const { demo = false, orders } = work.options
  if (paths.length === 0 && !demo && orders === undefined) {
    throw new AppError('USAGE', 'Name a file, or pass --demo or --orders N.')
  }
  const { seedShop } = await import('../../operations/seeding/seed.ts')
  const files: CatalogFile[] = []
  for (const path of paths) files.push((await loadCatalogFile(path, shopPlace(app.db), work)).file)
  const costly = costlyChanges(
    app.db,
    files.flatMap((file) => file.affiliates),
    now
  )
  if (costly.length > 0) await confirmOrRefuse(work.terminal, `${costly.join(', ')}. Change that?`, work.options)
  const progress = showProgress(work)
  const tell = (done: number): void => progress.step(`${done} of ${orders} orders`)
  const counts = await seedShop(app, { files, demo, orders }, now, tell).finally(progress.done)
  const images = await storeImages(app, work, {})
  const human = [...describeCounts(counts), ...(images.failed.length === 0 ? [] : describeImages(images))]
  return { json: byOutcome(counts), human }
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 9999999.')
  return Number(text)
}
