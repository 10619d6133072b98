import { doubts, refusals } from '../../shop/feeds/items.ts'
import { isFeedUsed } from '../../shop/feeds/kept-feed.ts'
import { feedReport } from '../../shop/feeds/walk.ts'
import { ok, warning } from './check.ts'
import type { Check } from './check.ts'

/** What market places refuse of the catalog. No warning before the first request of a feed. */
export const feedCheck: Check = {
  name: 'product feeds',
  run(app) {
    const report = feedReport(app, app.clock.now())
    const left = reasons(refusals, report.refusals)
    const doubted = reasons(doubts, report.doubts)
    const message = [
      `${report.products - report.refused} of ${report.products} products are complete in the feeds.`,
      ...(left.length === 0 ? [] : [`Left out: ${left.join(', ')}.`]),
      ...(doubted.length === 0 ? [] : [`Shown less or refused by some market places: ${doubted.join(', ')}.`])
    ].join(' ')
    if (left.length + doubted.length === 0 || !isFeedUsed(app.config.dataDir)) return ok(message)
    return warning(
      message,
      'Complete them with "shopstead offers set" or an import. Handmade goods have no GTIN and may stay as they are.'
    )
  }
}

function reasons<Name extends string>(
  words: Readonly<Record<Name, string>>,
  counts: Readonly<Record<Name, number>>
): string[] {
  const names = Object.keys(words) as Name[]
  return names.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${words[name]}`)
}
