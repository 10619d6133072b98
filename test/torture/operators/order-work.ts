import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { people } from '../../bench/generated-shop.ts'
import { shoppers } from './work.ts'
import type { Work } from './work.ts'

const size = { orders: 1_000_000 }

/** Work on orders and accounts, and on the whole database. */
export const orderWork: readonly Work[] = [
  {
    name: 'export of all orders',
    buyers: shoppers,
    size,
    run: ({ command, dataDir }) => command('orders', 'export', '--csv', join(dataDir, 'orders.csv'))
  },
  {
    name: 'reports',
    buyers: shoppers,
    size,
    async run({ command }) {
      const years = ['--from', '2024-01-01', '--to', '2027-12-31']
      for (const report of ['sales', 'products', 'affiliates', 'tax', 'payments'])
        await command('report', report, ...years)
      await command('report', 'stock')
    }
  },
  {
    name: 'erasing the customer with the most orders',
    buyers: shoppers,
    run: ({ command }) => command('users', 'erase', String(people.regular), '--yes')
  },
  {
    name: 'backup and its verification',
    buyers: shoppers,
    // 2 GB.
    size: { orders: 1_800_000 },
    async run({ command, dataDir }) {
      await command('backup', 'create')
      const folder = join(dataDir, 'backups')
      const made = readdirSync(folder).find((name) => name.endsWith('.db')) ?? ''
      await command('backup', 'verify', join(folder, made))
    }
  }
]
