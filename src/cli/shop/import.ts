import { importWordPress } from '../../operations/moving-in/wordpress/import-wordpress.ts'
import { openSource } from '../../operations/moving-in/wordpress/open-source.ts'
import { finishSubscriptions } from '../../operations/moving-in/wordpress/subscriptions.ts'
import type { Finished } from '../../operations/moving-in/wordpress/subscriptions.ts'
import { describeImages, storeImages } from '../offers/offer-images.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { describeMove, moveAnswer } from './table-import.ts'
import { table } from '../terminal/table.ts'
import type { Table } from '../terminal/table.ts'

type WordPressFlags = {
  dryRun?: boolean
  prefix?: string
  uploads?: string
  updateProducts?: boolean
  allowPrivate?: boolean
}

export function define(program: ShopCommand): void {
  const group = program.command('import').description('move in from another shop')
  const about =
    'move in with a WordPress and its WooCommerce: customers with their passwords, products, coupons, orders, affiliates, subscriptions, memberships and downloads. The source is the address of the database (mysql://user:password@host/name), which is only read, or a SQL dump. Run it again to bring what came since.'
  const command = addCommand(group, 'wordpress <source>', about, 'import wordpress shop.sql.gz --dry-run')
    .option('--dry-run', 'only show what would arrive')
    .option('--prefix <prefix>', 'what the names of the tables begin with, if the database has several WordPresses')
    .option('--uploads <folder>', 'wp-content/uploads of the WordPress, for the pictures; otherwise they are fetched')
    .option('--update-products', 'also set the prices and the stock of products that moved in before')
    .option('--allow-private', 'also fetch pictures from private networks and this machine')
  runs(command, wordPress)
  const shopify =
    'move in with a Shopify shop from its CSV exports: customers, orders, discounts and URL redirects, in files or a folder of them. First import the products with "offers import". Run it again with new exports to bring what came since.'
  const fromShopify = addCommand(group, 'shopify <files...>', shopify, 'import shopify exports/ --dry-run').option(
    '--dry-run',
    'only show what would arrive'
  )
  runs(fromShopify, async (work: Work<{ dryRun?: boolean }>, paths: string[]) => {
    const { importShopify } = await import('../../operations/moving-in/tables/shopify.ts')
    const progress = showProgress(work)
    const { dryRun: isDryRun = false } = work.options
    const options = { isDryRun, onStep: progress.step, interruption: work.terminal.interruption }
    return moveAnswer(await importShopify(work.app, paths, options).finally(progress.done))
  })
  const finishing =
    'let Stripe charge the subscriptions that moved in for this shop, on their old dates and with their old cards. First switch the old shop off, or both charge. The source is the one of "import wordpress". Running it again changes nothing.'
  const finish = addCommand(group, 'finish <source>', finishing, 'import finish shop.sql.gz --dry-run')
    .option('--dry-run', 'only list the subscriptions with amounts and dates')
    .option('--prefix <prefix>', 'the same as for "import wordpress"')
    .option('--yes', 'do not ask')
  runs(finish, finishMove)
}

type FinishFlags = { dryRun?: boolean; prefix?: string; yes?: boolean }

async function finishMove(work: Work<FinishFlags>, address: string): Promise<Answer> {
  const { dryRun: isDryRun = false, prefix } = work.options
  const question = 'Is the old shop switched off, so that it charges no customer?'
  if (!isDryRun) await confirmOrRefuse(work.terminal, question, work.options)
  const progress = showProgress(work)
  try {
    progress.step('opening the source')
    await using source = await openSource(address, prefix)
    const subscriptions = await finishSubscriptions(work.app, source.wordPress, { isDryRun, onStep: progress.step })
    return { json: { dryRun: isDryRun, subscriptions }, human: describeFinished(subscriptions, isDryRun) }
  } finally {
    progress.done()
  }
}

const states: Readonly<Record<Finished['state'], string>> = {
  planned: 'would be taken over',
  done: 'taken over',
  before: 'taken over before',
  impossible: 'not possible'
}

function describeFinished(subscriptions: readonly Finished[], isDryRun: boolean): (string | Table)[] {
  const head = ['Subscription', 'Customer', 'Amount', 'Every', 'Next', 'State']
  const rows = subscriptions.map(({ id, email, amount, currency, every, nextAt, state }) => [
    id,
    email ?? '',
    `${amount} ${currency}`,
    every,
    nextAt ?? '',
    states[state]
  ])
  return [
    ...(rows.length === 0 ? ['The old shop has no running subscriptions.'] : [table(head, rows)]),
    ...subscriptions.flatMap(({ id, why, link }) =>
      why === null
        ? []
        : [`${id}: ${why}.${link === null ? '' : ` Ask the customer to subscribe with a card: ${link}`}`]
    ),
    ...(isDryRun ? ['Nothing was changed: this was a dry run.'] : [])
  ]
}

async function wordPress(work: Work<WordPressFlags>, address: string): Promise<Answer> {
  const { dryRun: isDryRun = false, prefix, uploads, updateProducts: updatesProducts } = work.options
  const progress = showProgress(work)
  try {
    progress.step('opening the source')
    await using source = await openSource(address, prefix)
    const { interruption } = work.terminal
    const options = { isDryRun, uploads, updatesProducts, onStep: progress.step, interruption }
    const report = await importWordPress(work.app, source.wordPress, options)
    progress.done()
    const images = isDryRun ? { stored: 0, failed: [] } : await storeImages(work.app, work, work.options)
    return {
      json: { ...report, images },
      human: [...describeMove(report), ...(images.stored + images.failed.length === 0 ? [] : describeImages(images))]
    }
  } finally {
    progress.done()
  }
}
