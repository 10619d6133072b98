import { quickFindings } from '../../operations/diagnosis/diagnose.ts'
import { salesOf } from '../../operations/reports/sales.ts'
import type { SalesRow } from '../../operations/reports/sales.ts'
import type { Bar } from '../../operations/reports/report.ts'
import { listAllOrders } from '../../shop/customers/admin-orders.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { listWarnings } from '../../shop/payments/warnings.ts'
import { startOfShopDay, shopDay } from '../../shop/settings/shop-days.ts'
import { listOrdersToPack } from '../../shop/shipments/pack-list.ts'
import { listAllReturns } from '../../shop/shipments/returns.ts'
import type { PageReply } from '../page.ts'
import { mostSlips, orderItem } from './orders.ts'
import { page } from './view.ts'
import type { Block, DeskCall, DeskPage, Item } from './view.ts'

export const todayPages: readonly DeskPage[] = [
  { path: /^\/desk$/, name: '/desk', needs: 'today', show: showToday },
  { path: /^\/desk\/pack$/, name: '/desk/pack', needs: 'orders', show: showPack }
]

const dayMs = 24 * 60 * 60_000
const mostToPack = 10

async function showToday(call: DeskCall): Promise<PageReply> {
  const { visit, words } = call
  const sums = isAllowed(visit.actor, 'sums') ? sumBlocks(call) : []
  const work = isAllowed(visit.actor, 'orders') ? orderBlocks(call) : []
  const health = isAllowed(visit.actor, 'settings') ? [await healthBlock(call)] : []
  return page(call, { title: words.t('desk.today'), blocks: [...sums, ...work, ...health] })
}

async function healthBlock({ app, words }: DeskCall): Promise<Block> {
  const items = (await quickFindings(app)).map(({ name, status, message, advice }) => ({
    name,
    state: { label: status, tone: status === 'failed' ? ('bad' as const) : ('wait' as const) },
    hints: [message, advice]
  }))
  return { kind: 'list', title: words.t('desk.health'), items, empty: words.t('desk.healthy') }
}

/** Sales of today, the last 7 and the last 30 days, as the report of sales counts them. */
function sumBlocks({ app, words, now }: DeskCall): Block[] {
  const { t } = words
  const to = shopDay(app.db, now)
  const since = (days: number): string => shopDay(app.db, startOfShopDay(app.db, to) - days * dayMs + dayMs / 2)
  const spans: [string, string][] = [
    [t('desk.today'), to],
    [t('desk.week'), since(6)],
    [t('desk.month'), since(29)]
  ]
  return spans.flatMap(([title, from]) => {
    const rows = salesOf(app.db, { from, to }, 'day')
    return [...Map.groupBy(rows, ({ currency }) => currency)].flatMap(([currency, own]): Block[] => {
      const sum = (of: (row: SalesRow) => number): number => own.reduce((all, row) => all + of(row), 0)
      const money = (of: (row: SalesRow) => number): string => words.money(sum(of), currency)
      const figures = [
        { label: t('orders'), value: String(sum(({ orders }) => orders)) },
        { label: t('desk.sales'), value: money(({ totalMinor }) => totalMinor) },
        { label: t('desk.refunded'), value: money(({ refundedMinor }) => refundedMinor) }
      ]
      const bars = own.map(({ from: day, totalMinor }) => ({
        label: day,
        value: totalMinor,
        text: words.money(totalMinor, currency)
      }))
      return [{ kind: 'sums', title, rows: figures, ...(from === to ? {} : { chart: chartOf(bars) }) }]
    })
  })
}

/** A chart as an SVG. Its values are in the text below it, for who cannot see it. */
export function chartOf(bars: readonly Bar[]): { svg: string; about: string } {
  const [width, height] = [360, 120]
  const most = Math.max(0, ...bars.map(({ value }) => value))
  const step = width / Math.max(1, bars.length)
  const path = bars
    .map(({ value }, index) => {
      if (value <= 0) return ''
      const tall = Math.max(2, (value / most) * (height - 10))
      return `M${(index * step).toFixed(1)} ${height}v${(-tall).toFixed(1)}h${(step * 0.75).toFixed(1)}v${tall.toFixed(1)}z`
    })
    .join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" aria-hidden="true"><path class="clicks" d="${path}"/><path class="axis" d="M0 ${height}h${width}"/></svg>`
  const best = bars.find(({ value }) => value === most)
  const shown = [bars[0], best, bars.at(-1)].flatMap((bar) => (bar === undefined ? [] : [`${bar.label}: ${bar.text}`]))
  return { svg, about: [...new Set(shown)].join(' · ') }
}

function orderBlocks(call: DeskCall): Block[] {
  const { app, words } = call
  const { t } = words
  const warnings = [...listWarnings(app.db)].map(({ message, orderId }) => ({
    name: message,
    ...(orderId === null ? {} : { url: `/desk/orders/${orderId}` })
  }))
  const toPack = packItems(call, mostToPack)
  const expected = listAllReturns(app.db, { state: 'expected', limit: mostToPack }).map(({ id, orderId, lines }) => ({
    name: t('desk.order', { id: orderId }),
    url: `/desk/orders/${orderId}`,
    hints: [t('desk.returnNumber', { id }), lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')]
  }))
  const { orders } = listAllOrders(app.db, { limit: 5 })
  return [
    ...(warnings.length === 0
      ? []
      : [{ kind: 'list' as const, title: t('desk.warnings'), items: warnings, empty: '' }]),
    { kind: 'list', title: t('desk.toPack'), items: toPack, empty: t('desk.nothingToPack') },
    ...(toPack.length < mostToPack
      ? []
      : [{ kind: 'links' as const, links: [{ label: t('desk.toPack'), url: '/desk/pack' }] }]),
    ...(expected.length === 0
      ? []
      : [{ kind: 'list' as const, title: t('desk.expected'), items: expected, empty: '' }]),
    {
      kind: 'list',
      title: t('desk.newOrders'),
      items: orders.map((order) => orderItem(call, order)),
      empty: t('desk.noOrders')
    }
  ]
}

function packItems({ app, words }: DeskCall, most: number): Item[] {
  return [...listOrdersToPack(app.db).take(most)].map(({ id, shipTo, lines }) => ({
    name: words.t('desk.order', { id }),
    url: `/desk/orders/${id}`,
    hints: [shipTo.join(', '), lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')]
  }))
}

function showPack(call: DeskCall): PageReply {
  const { words } = call
  const items = packItems(call, mostSlips)
  return page(call, {
    title: words.t('desk.toPack'),
    back: { label: words.t('orders'), url: '/desk/orders' },
    blocks: [
      {
        kind: 'links',
        links: items.length === 0 ? [] : [{ label: words.t('desk.allSlips'), url: '/desk/pack/slips' }]
      },
      { kind: 'list', items, empty: words.t('desk.nothingToPack') }
    ],
    command: 'shopstead orders pack'
  })
}
