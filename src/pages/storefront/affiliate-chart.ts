import type { AffiliateStats } from '../../client/client.ts'
import { dayText } from './days.ts'
import type { Site } from './site.ts'

type Day = AffiliateStats['days'][number]
/** A row of bars, one for each day. `top` and `height` are those of the highest bar. */
type Row = { name: 'clicks' | 'orders'; top: number; height: number }

const width = 320
const height = 190
const rows: readonly Row[] = [
  { name: 'clicks', top: 20, height: 80 },
  { name: 'orders', top: 128, height: 34 }
]

/** The clicks and orders of an affiliate day by day as bars, in SVG. The colours come from the page's style. */
export function chartOf(stats: AffiliateStats, site: Site): string {
  const { from, to, days } = stats
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="chart-title chart-text">
<title id="chart-title">${site.t('chart.title')}</title>
<desc id="chart-text">${describe(stats, site)}</desc>
${rows.map((row) => bars(row, days, site)).join('\n')}
<text x="0" y="${height - 6}">${dayText(from, site, 'short')}</text>
<text x="${width}" y="${height - 6}" text-anchor="end">${dayText(to, site, 'short')}</text>
</svg>
`
}

function bars({ name, top, height: highest }: Row, days: readonly Day[], { t }: Site): string {
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
  return `<text x="0" y="${top - 7}">${t(`affiliate.${name}`)}</text>
<text x="${width}" y="${top - 7}" text-anchor="end">${most === 0 ? t('chart.none') : t('chart.most', { count: most })}</text>
<path class="${name}" d="${path}"/>
<path class="axis" d="M0 ${bottom}h${width}"/>`
}

const round = (number: number): number => Math.round(number * 100) / 100

function describe({ from, to, days, totals }: AffiliateStats, site: Site): string {
  const { t } = site
  const best = days.reduce<Day | null>((most, day) => (day.clicks > (most?.clicks ?? 0) ? day : most), null)
  const sums = {
    from: dayText(from, site),
    to: dayText(to, site),
    clicks: t('chart.clicks', { count: totals.clicks }),
    orders: t('chart.orders', { count: totals.orders })
  }
  const peak = best === null ? '' : ` ${t('chart.peak', { count: best.clicks, day: dayText(best.day, site) })}`
  return `${t('chart.text', sums)}${peak}`
}
