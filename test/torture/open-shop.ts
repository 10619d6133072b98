import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Packed } from '../support/packed.ts'
import { commandsWithoutHoldLimits } from '../support/hold-limits.ts'
import { runPacked } from './packed-shop.ts'

const buckets = ['register_ip', 'login_ip', 'checkout_ip', 'checkout_decline', 'account_change'] as const

/** Creates a shop with these products and without rate limits. */
export async function openShop(packed: Packed, dataDir: string, products: readonly object[]): Promise<void> {
  const catalog = join(packed.folder, 'catalog.json')
  writeFileSync(catalog, JSON.stringify({ products }))
  const limits = buckets.map((bucket) => ['settings', 'set', `limits.${bucket}`, 'off'])
  for (const words of [['init'], ['seed', catalog], ...limits, ...commandsWithoutHoldLimits]) {
    const { exitCode, stderr } = await runPacked(packed, { dataDir }, ...words)
    if (exitCode !== 0) throw new Error(`shopstead ${words.join(' ')}: ${stderr}`)
  }
}
