import { reports } from '../../operations/reports/list.ts'
import type { PeriodOptions } from '../../operations/reports/days.ts'
import { plainFormat } from '../../operations/reports/report.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import type { PageReply } from '../page.ts'
import { chartOf } from './today.ts'
import { commandOf, page, textFor, textOf } from './view.ts'
import type { Block, DeskCall, DeskPage } from './view.ts'
import { notFound } from '../../platform/http/answers.ts'

const mostRows = 500
const namePart = '([a-z][a-z-]{0,30})'

export const reportPages: readonly DeskPage[] = [
  { path: /^\/desk\/more$/, name: '/desk/more', needs: 'today', show: showMore },
  { path: /^\/desk\/reports$/, name: '/desk/reports', needs: 'reports', show: showReports },
  {
    path: new RegExp(`^/desk/reports/${namePart}\\.csv$`),
    name: '/desk/reports/sales.csv',
    needs: 'reports',
    show: showCsv
  },
  {
    path: new RegExp(`^/desk/reports/${namePart}$`),
    name: '/desk/reports/sales',
    needs: 'reports',
    show: showReport
  }
]

/** The parts of the desk that have no place of their own in the navigation of a phone. */
function showMore(call: DeskCall): PageReply {
  const { words, visit } = call
  const { t } = words
  const parts = [
    ['customers', t('desk.customers'), '/desk/customers'],
    ['discounts', t('desk.discounts'), '/desk/discounts'],
    ['giftCards', t('desk.giftCards'), '/desk/gift-cards'],
    ['affiliates', t('desk.affiliates'), '/desk/affiliates'],
    ['reports', t('desk.reports'), '/desk/reports'],
    ['reports', t('desk.documents'), '/desk/documents'],
    ['settings', t('desk.settings'), '/desk/settings'],
    ['own.access', t('desk.access'), '/desk/access']
  ] as const
  const items = parts.filter(([needs]) => isAllowed(visit.actor, needs)).map(([, name, url]) => ({ name, url }))
  return page(call, { title: t('desk.everything'), blocks: [{ kind: 'list', items, empty: '' }] })
}

function showReports(call: DeskCall): PageReply {
  const { t } = call.words
  const items = reports.map(({ name, about }) => ({
    name: textFor(call, 'desk.report', name),
    url: `/desk/reports/${name}`,
    hints: [about]
  }))
  return page(call, {
    title: t('desk.reports'),
    back: { label: t('desk.everything'), url: '/desk/more' },
    blocks: [
      { kind: 'links', links: [{ label: t('desk.documents'), url: '/desk/documents' }] },
      { kind: 'list', items, empty: '' }
    ],
    command: 'shopstead report --help'
  })
}

/** A report of the days in the query, by default of its usual period. @throws AppError NOT_FOUND, VALIDATION_FAILED */
async function makeReport({ app, params, query, now }: DeskCall) {
  const report = reports.find(({ name }) => name === params[0])
  if (report === undefined) throw notFound()
  const days: PeriodOptions = Object.fromEntries(
    report.period.options.flatMap(({ name }) => {
      const value = textOf(query, name)
      return value === undefined ? [] : [[name, value]]
    })
  )
  return { report, days, made: await report.make(app, days, now) }
}

async function showReport(call: DeskCall): Promise<PageReply> {
  const { words, path, query } = call
  const { t } = words
  const { report, days, made } = await makeReport(call)
  const { page: shown } = made
  const columns = shown.columns.map((column, index) => ({ ...column, index })).filter(({ isDetail }) => !isDetail)
  const charts = shown.charts
    .filter(({ bars }) => bars.some(({ value }) => value > 0))
    .map(({ title, bars }): Block => ({ kind: 'sums', title, rows: [], chart: chartOf(bars) }))
  return page(call, {
    title: textFor(call, 'desk.report', report.name),
    back: { label: t('desk.reports'), url: '/desk/reports' },
    blocks: [
      {
        kind: 'search',
        fields: report.period.options.map(({ name }) => ({
          name,
          label: t(`desk.${name}`),
          type: name === 'quarter' ? 'text' : 'date',
          value: query.get(name) ?? ''
        }))
      },
      { kind: 'text', text: shown.subtitle },
      { kind: 'sums', rows: shown.figures.slice(0, 6) },
      ...charts,
      {
        kind: 'table',
        head: columns.map(({ name }) => name),
        rows: shown.rows.slice(0, mostRows).map(({ cells }) => columns.map(({ index }) => cells[index] ?? ''))
      },
      ...shown.notes.map((text): Block => ({ kind: 'text', text })),
      {
        kind: 'links',
        links: report.formats.map(({ name }) => ({
          label: name === plainFormat ? t('desk.csv') : textFor(call, 'desk.format', name),
          url: `${path}.csv?${new URLSearchParams({ ...days, ...(name === plainFormat ? {} : { format: name }) }).toString()}`
        }))
      }
    ],
    command: commandOf(`report ${report.name}`, days)
  })
}

async function showCsv(call: DeskCall): Promise<PageReply> {
  const { report, made } = await makeReport(call)
  const format = textOf(call.query, 'format') ?? plainFormat
  const known = report.formats.find(({ name }) => name === format)
  if (known === undefined) throw notFound()
  const name = format === plainFormat ? report.name : `${report.name}-${format}`
  return { file: made.file(format), type: `text/csv; charset=${known.charset ?? 'utf-8'}`, name: `${name}.csv` }
}
