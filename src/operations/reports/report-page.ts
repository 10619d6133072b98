import { assetPath } from '../../platform/package-root.ts'
import { openTemplates } from '../../platform/templates.ts'
import type { Chart, ReportPage } from './report.ts'

/** One HTML page of a report, with charts as SVG. It loads nothing, has no script, and prints on A4. */
export function reportHtml(shopName: string, page: ReportPage, madeAt: string): string {
  return openTemplates(assetPath('operations', 'reports')).html('report.eta', {
    shopName,
    madeAt,
    ...page,
    charts: page.charts.filter(({ bars }) => bars.some(({ value }) => value > 0)).map(drawn)
  })
}

/** The bars with their length in percent of the longest one. */
function drawn({ title, kind, bars }: Chart) {
  const most = Math.max(...bars.map(({ value }) => value))
  const longest = bars.find(({ value }) => value === most)
  return {
    title,
    kind,
    most: longest?.text ?? '',
    first: bars[0]?.label ?? '',
    last: bars.at(-1)?.label ?? '',
    bars: bars.map(({ label, value, text }) => ({ label, text, percent: (Math.max(0, value) / most) * 100 }))
  }
}
