import type { CountsByKind } from '../shop/catalog/changes.ts'
import { InvalidArgumentError } from 'commander'
import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import { write } from '../platform/db/database.ts'
import { setting } from '../shop/settings/settings.ts'
import { byOutcome, describeCounts, readCatalogueFile } from './catalogue-file.ts'
import type { Answer } from './output.ts'
import { showProgress } from './progress.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

type SeedOptions = { demo?: boolean; orders?: number }

export function define(program: ShopCommand): void {
  const about = 'fill the shop from catalogue files, or with the demo shop; again it changes nothing'
  const command = addCommand(program, 'seed [files...]', about, 'seed offers.json')
    .option('--demo', 'the demo shop: catalogue, people and a year of orders (not in production)')
    .option('--orders <n>', 'make up orders until the shop has this many (not in production)', parseCount)
  runs(command, 'migrated', seed)
}

async function seed(work: Work<SeedOptions>, files: string[]): Promise<Answer> {
  const { app, now } = work
  const { demo = false, orders } = work.options
  if (files.length === 0 && !demo && orders === undefined) {
    throw new AppError('USAGE', 'Name a file to seed from, or say --demo or --orders N.')
  }
  const { countOrders, isEmptyShop, refuseInProduction, seedDemo } = await import('../operations/seeding/demo.ts')
  if (demo || orders !== undefined) refuseInProduction(app)
  const before = countOrders(app.db)
  const done: CountsByKind[] = []
  if (files.length > 0) done.push(await seedFiles(work, files))
  if (demo || (orders !== undefined && isEmptyShop(app.db))) done.push(await seedDemo(app, now))
  if (orders !== undefined) await seedOrders(work, orders)
  const counts = sum(done)
  if (orders !== undefined) counts.orders = { created: countOrders(app.db) - before, updated: 0, unchanged: before }
  return { json: byOutcome(counts), human: describeCounts(counts) }
}

/** All files are read before anything is written, and written in one transaction. */
async function seedFiles(work: Work<SeedOptions>, paths: readonly string[]): Promise<CountsByKind> {
  const { app, now } = work
  const { applyCatalogue } = await import('../operations/seeding/catalogue.ts')
  const { applyAffiliates } = await import('../shop/affiliates/apply-affiliates.ts')
  const currency = setting(app.db, 'shop.currency')
  const files = paths.map((path) => readCatalogueFile(path, currency, work).file)
  return write(app.db, (tx) =>
    sum(
      files.map((file) => ({
        ...applyCatalogue(app, tx, file, now),
        affiliates: applyAffiliates(tx, file.affiliates, now)
      }))
    )
  )
}

async function seedOrders(work: Work<SeedOptions>, wanted: number): Promise<void> {
  const { app, now } = work
  const { generateOrders } = await import('../operations/seeding/generated-orders.ts')
  const progress = showProgress(work)
  await generateOrders(app, wanted, now, (done) => progress.step(`${done} of ${wanted} orders`)).finally(progress.done)
}

function sum(parts: readonly CountsByKind[]): CountsByKind {
  const total: CountsByKind = {}
  for (const [kind, counts] of parts.flatMap((part) => Object.entries(part))) {
    const known = total[kind] ?? { created: 0, updated: 0, unchanged: 0 }
    total[kind] = {
      created: known.created + counts.created,
      updated: known.updated + counts.updated,
      unchanged: known.unchanged + counts.unchanged
    }
  }
  return total
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It takes a number from 1 to 9999999.')
  return Number(text)
}
