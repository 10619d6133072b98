import { ShopError } from '../../client/client.ts'
import type { AffiliateStats } from '../../client/api-types.ts'
import { PageNotFound } from './site.ts'
import type { Shown, Visit } from './site.ts'

type Day = AffiliateStats['days'][number]
/** A row of bars, one for each day. `top` and `height` are those of the highest bar. */
type Row = { name: 'clicks' | 'orders'; label: string; top: number; height: number }

const width = 320
const height = 190
const rows: readonly Row[] = [
  { name: 'clicks', label: 'Clicks', top: 20, height: 80 },
  { name: 'orders', label: 'Orders', top: 128, height: 34 }
]

/**
 * The clicks and orders of the logged-in affiliate in the last 90 days as bars. The page of the referrals puts it between
 * its own elements, so the colours come from the page's style. @throws PageNotFound without an active affiliate account
 */
export async function affiliateChart({ client }: Visit): Promise<Shown> {
  try {
    const stats = await client.get('/affiliates/stats', { query: { days: 90 } })
    return { text: toSvg(stats), type: 'image/svg+xml', isPrivate: true }
  } catch (error) {
    if (error instanceof ShopError && error.status < 500) throw new PageNotFound()
    throw error
  }
}

function toSvg(stats: AffiliateStats): string {
  const { from, to, days } = stats
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="chart-title chart-text">
<title id="chart-title">Clicks and orders by day</title>
<desc id="chart-text">${describe(stats)}</desc>
${rows.map((row) => bars(row, days)).join('\n')}
<text x="0" y="${height - 6}">${shortDay(from)}</text>
<text x="${width}" y="${height - 6}" text-anchor="end">${shortDay(to)}</text>
</svg>
`
}

function bars({ name, label, top, height: highest }: Row, days: readonly Day[]): string {
  const most = Math.max(0, ...days.map((day) => day[name]))
  const bottom = top + highest
  const step = width / days.length
  const path = days
    .map((day, index) => {
      if (day[name] === 0) return ''
      // One order beside a thousand must still be seen.
      const tall = Math.max(2, (day[name] / most) * highest)
      const bar = step * 0.75
      return `M${round(index * step)} ${bottom}v${round(-tall)}h${round(bar)}v${round(tall)}z`
    })
    .join('')
  return `<text x="0" y="${top - 7}">${label}</text>
<text x="${width}" y="${top - 7}" text-anchor="end">${most === 0 ? 'none' : `at most ${most} a day`}</text>
<path class="${name}" d="${path}"/>
<path class="axis" d="M0 ${bottom}h${width}"/>`
}

const round = (number: number): number => Math.round(number * 100) / 100

function describe({ from, to, days, totals }: AffiliateStats): string {
  const best = days.reduce<Day | null>((most, day) => (day.clicks > (most?.clicks ?? 0) ? day : most), null)
  const peak = best === null ? '' : ` Most clicks: ${best.clicks} on ${longDay(best.day)}.`
  return `From ${longDay(from)} to ${longDay(to)}: ${counted(totals.clicks, 'click')} and ${counted(totals.orders, 'order')}.${peak}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
const shortDay = (day: string): string => short.format(new Date(day))
const longDay = (day: string): string => long.format(new Date(day))
