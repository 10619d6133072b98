import { join } from 'node:path'
import { tryWorks } from './operators.ts'
import { writePictures, writeProducts } from './operators/catalog-work.ts'
import { shoppers } from './operators/work.ts'
import type { Work } from './operators/work.ts'
import type { Part } from './part.ts'

/** A day with an import of products with pictures, a backup, reports and health, beside some buyers. */
const day: Work = {
  name: 'a day with 512 MB',
  buyers: { ...shoppers, perSecond: 10 },
  memoryMb: 512,
  async prepare({ dataDir, isFull }) {
    writeProducts(dataDir, isFull ? 10_000 : 500)
    await writePictures(dataDir, isFull ? 500 : 20)
  },
  async run({ command, dataDir }) {
    await command('offers', 'import', join(dataDir, 'products.json'), '--dry-run')
    await command('offers', 'import', join(dataDir, 'products.json'))
    await command('offers', 'import', join(dataDir, 'pictures.json'))
    for (const report of ['sales', 'products', 'affiliates', 'tax', 'payments']) await command('report', report)
    await command('orders', 'export', '--csv', join(dataDir, 'orders.csv'))
    await command('backup', 'create')
    await command('health', '--deep')
  }
}

/** The server, the commands and the pages of the files that they read share the core and the memory. */
export const smallMachine: Part = {
  name: 'small-machine',
  about: "a shop's day on a machine with one core and 512 MB: nothing refused, and no process ended",
  run: (trial) => tryWorks(trial, [day])
}
