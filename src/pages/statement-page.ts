import { AppError } from '../errors.ts'
import { csvMark } from '../platform/text.ts'
import { takePagePoint } from '../shop/checkout/limits.ts'
import { findStatement, payeeLanguage, statementCsv, statementPdf } from '../shop/payouts/statement.ts'
import { inLanguage, wordsOf } from '../shop/settings/language.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

/** The statement of a payout to an affiliate: a PDF, and with `format=csv` its lines for a spreadsheet. */
export const statementPages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/account\/payout\/([\w.-]{1,100})$/,
    name: '/account/payout/:token',
    handle: show
  }
]

async function show({ app, request, param, addressKey, now }: PageCall): Promise<PageReply> {
  const payout = findStatement(app.db, app.keys, param, now)
  if (payout === undefined) throw new AppError('NOT_FOUND', 'There is no such statement.')
  const name = `payout-${payout.id}`
  if (new URL(request.url).searchParams.get('format') === 'csv') {
    const file = new TextEncoder().encode(csvMark + statementCsv(app.db, payout))
    return { file, type: 'text/csv; charset=utf-8', name: `${name}.csv` }
  }
  // A PDF takes some 10 ms of the event loop, and the first one 200 ms.
  await takePagePoint(app, addressKey)
  const words = wordsOf(inLanguage(app, payeeLanguage(app.db, payout)))
  return { file: await statementPdf(app.db, payout, words), type: 'application/pdf', name: `${name}.pdf` }
}
