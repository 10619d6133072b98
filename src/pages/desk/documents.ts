import { documentArchive, mostInArchive } from '../../operations/document-archive.ts'
import { daysOfQuarter, lastQuarter, parseOpenDays } from '../../operations/reports/days.ts'
import type { Days } from '../../operations/reports/days.ts'
import { isDay } from '../../platform/days.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { countDocuments, listDocuments } from '../../shop/invoices/find.ts'
import { documentName } from '../../shop/invoices/text.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { documentUrl } from '../../shop/orders/view.ts'
import { shopDay } from '../../shop/settings/shop-days.ts'
import type { PageReply } from '../page.ts'
import { commandOf, page, pagesOf, refuseField, textOf } from './view.ts'
import type { Action, DeskCall, DeskPage } from './view.ts'

const perPage = 50
const quartersShown = 4

export const documentPages: readonly DeskPage[] = [
  { path: /^\/desk\/documents$/, name: '/desk/documents', needs: 'reports', show: showDocuments }
]

/** The last quarters that are over, the newest first. */
function quartersOf({ app, now }: DeskCall): string[] {
  const quarters: string[] = []
  for (let day = shopDay(app.db, now); quarters.length < quartersShown;) {
    const quarter = lastQuarter(day)
    quarters.push(quarter)
    day = daysOfQuarter(quarter).from
  }
  return quarters
}

/** The days in a query or a form, by default those of the last quarter. */
function daysIn(call: DeskCall, values: URLSearchParams): Days {
  const usual = daysOfQuarter(quartersOf(call)[0] ?? '')
  return { from: textOf(values, 'from') ?? usual.from, to: textOf(values, 'to') ?? usual.to }
}

function showDocuments(call: DeskCall): PageReply {
  const { app, words, query, visit } = call
  const { t } = words
  const days = daysIn(call, query)
  const after = Number(/^[1-9]\d{0,14}$/.exec(query.get('cursor') ?? '')?.[0] ?? 0)
  const found = [...Iterator.from(listDocuments(app.db, { ...parseOpenDays(days), after })).take(perPage + 1)]
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  const link = (label: string, path: string, of: Days) => ({
    label,
    url: `${path}?${new URLSearchParams(of).toString()}`
  })
  const archive = link(t('desk.archive'), '/desk/documents/archive', days)
  return page(call, {
    title: t('desk.documents'),
    back: { label: t('desk.reports'), url: '/desk/reports' },
    blocks: [
      {
        kind: 'links',
        links: quartersOf(call).map((quarter) => link(quarter, '/desk/documents', daysOfQuarter(quarter)))
      },
      {
        kind: 'search',
        fields: [
          { name: 'from', label: t('desk.from'), type: 'date', value: days.from },
          { name: 'to', label: t('desk.to'), type: 'date', value: days.to }
        ]
      },
      { kind: 'links', links: found.length > 0 && isAllowed(visit.actor, 'reports.archive') ? [archive] : [] },
      {
        kind: 'list',
        items: shown.map((row) => ({
          name: documentName(row),
          url: documentUrl(app, getOrder(app.db, row.orderId), row),
          amount: words.money(row.totalMinor, row.currency),
          hints: [row.date]
        })),
        empty: t('desk.noDocuments')
      },
      pagesOf(call, last === undefined ? null : String(last.id))
    ],
    command: `${commandOf('orders documents', days)} FOLDER`
  })
}

/** @throws AppError VALIDATION_FAILED */
function wantedDays({ words, ...call }: DeskCall, form: URLSearchParams): Days {
  const days = daysIn({ words, ...call }, form)
  for (const name of ['from', 'to'] as const) {
    if (!isDay(days[name])) throw refuseField(name, words.t('desk.dayHint'))
  }
  if (days.from > days.to) throw refuseField('to', words.t('desk.daysTurned'))
  return days
}

/** The documents of some days as one file. It asks for the passkey, because it takes names and addresses out. */
export const archiveAction: Action = {
  path: /^\/desk\/documents\/archive$/,
  name: '/desk/documents/archive',
  needs: 'reports.archive',
  form: (call) => {
    const { t } = call.words
    return {
      title: t('desk.archive'),
      text: t('desk.archiveText'),
      rows: [
        [
          { name: 'from', label: t('desk.from'), type: 'date', required: true },
          { name: 'to', label: t('desk.to'), type: 'date', required: true }
        ]
      ],
      known: daysIn(call, call.query),
      submit: t('desk.archive'),
      back: { label: t('desk.documents'), url: '/desk/documents' }
    }
  },
  command: (call, form) => `${commandOf('orders documents', daysIn(call, form.size > 0 ? form : call.query))} FOLDER`,
  run: (call, form) => {
    const { app, words, now } = call
    const days = wantedDays(call, form)
    const count = countDocuments(app.db, days)
    if (count === 0) throw refuseField('from', words.t('desk.noDocuments'))
    if (count > mostInArchive) throw refuseField('to', words.t('desk.archiveTooMany', { count, most: mostInArchive }))
    const name = `documents-${days.from}-${days.to}.zip`
    return { stream: documentArchive(app, days, now), type: 'application/zip', name }
  }
}
