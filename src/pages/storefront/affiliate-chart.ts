import { ShopError } from '../../client/client.ts'
import type { AffiliateStats } from '../../client/api-types.ts'
import { PageNotFound } from './site.ts'
import type { Shown, Site, Visit } from './site.ts'

type Day = AffiliateStats['days'][number]
/** A row of bars, one for each day. `top` and `height` are those of the highest bar. */
type Row = { name: 'clicks' | 'orders'; top: number; height: number }

const width = 320
const height = 190
const rows: readonly Row[] = [
  { name: 'clicks', top: 20, height: 80 },
  { name: 'orders', top: 128, height: 34 }
]

/**
 * The clicks and orders of the logged-in affiliate in the last 90 days as bars. The page of the referrals puts it between
 * its own elements, so the colours come from the page's style. @throws PageNotFound without an active affiliate account
 */
export async function affiliateChart({ client, site }: Visit): Promise<Shown> {
  try {
    const stats = await client.get('/affiliates/stats', { query: { days: 90 } })
    return { text: toSvg(stats, site), type: 'image/svg+xml', isPrivate: true }
  } catch (error) {
    if (error instanceof ShopError && error.status < 500) throw new PageNotFound()
    throw error
  }
}

function toSvg(stats: AffiliateStats, site: Site): string {
  const { from, to, days } = stats
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="chart-title chart-text">
<title id="chart-title">${site.t('chart.title')}</title>
<desc id="chart-text">${describe(stats, site)}</desc>
${rows.map((row) => bars(row, days, site)).join('\n')}
<text x="0" y="${height - 6}">${dayText(from, site, short)}</text>
<text x="${width}" y="${height - 6}" text-anchor="end">${dayText(to, site, short)}</text>
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
    from: dayText(from, site, long),
    to: dayText(to, site, long),
    clicks: t('chart.clicks', { count: totals.clicks }),
    orders: t('chart.orders', { count: totals.orders })
  }
  const peak = best === null ? '' : ` ${t('chart.peak', { count: best.clicks, day: dayText(best.day, site, long) })}`
  return `${t('chart.text', sums)}${peak}`
}

const short = { day: 'numeric', month: 'short' } as const
const long = { dateStyle: 'long' } as const

/** English without a country, as in `en`, would put the month first. */
function dayText(day: string, { lang }: Site, format: typeof short | typeof long): string {
  const locale = lang === 'en' ? 'en-GB' : lang
  return new Intl.DateTimeFormat(locale, { ...format, timeZone: 'UTC' }).format(new Date(day))
}
