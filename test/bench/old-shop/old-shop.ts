import { join } from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'
import { multiply } from './multiply.ts'
import { writeTemplate } from './template.ts'

/** How many orders an old shop has: for a test of plans, for the tests with processes, and after ten years. */
export const oldShopOrders = { small: 3_500, medium: 35_000, large: 350_295 } as const

/**
 * Makes the data folder of a shop that has sold for ten years: rows in bulk from rows that the product wrote.
 *
 * @returns the folder, which its caller deletes
 */
export async function makeOldShop(
  orders: number,
  { now = Date.now(), progress }: { now?: number; progress?: (line: string) => void } = {}
): Promise<string> {
  const dataDir = temporaryFolder('old-shop')
  const template = await writeTemplate(dataDir, now)
  await template.stop()
  multiply(join(dataDir, 'shopstead.db'), orders, progress)
  return dataDir
}
