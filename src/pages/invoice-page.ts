import type { App } from '../app.ts'
import { isBuyerOf } from '../shop/checkout/order-visitor.ts'
import { takePagePoint } from '../shop/checkout/limits.ts'
import { documentsOf, getDocument } from '../shop/invoices/find.ts'
import { invoicePdf } from '../shop/invoices/pdf.ts'
import type { InvoiceRow } from '../shop/invoices/find.ts'
import { documentName, toText } from '../shop/invoices/text.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import { inLanguage, wordsOf } from '../shop/settings/language.ts'
import { provesInvoice } from '../shop/orders/order-links.ts'
import { documentUrl, statusUrl } from '../shop/orders/view.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import { provePath, visitorOf } from './prove-page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

/**
 * The invoice of an order, or with `number` one of its credit notes; as a PDF with `format=pdf`. The name and the address
 * are only for the buyer, as the order's page shows none to those who have its link.
 */
export const invoicePages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/checkout\/invoice\/([A-Za-z0-9_-]{1,100})$/,
    name: '/checkout/invoice/:token',
    handle: show
  }
]

async function show(call: PageCall): Promise<PageReply> {
  const { app, request, param, addressKey, now } = call
  const query = new URL(request.url).searchParams
  const order = getOrderByPublicToken(app.db, param)
  const row = getDocument(app.db, order.id, query.get('number'))
  const sent = query.get('proof') ?? ''
  const isProven = provesInvoice(app.keys, order, sent, now)
  const proof = isProven ? sent : null
  const isBuyer = isProven || isBuyerOf(app, order, visitorOf(call, order), now)
  const shown = isBuyer ? row : { ...row, buyer: null }
  if (query.get('format') !== 'pdf') return page(app, order, shown, { proof, isBuyer })
  // A PDF takes some 10 ms of the event loop, and the first one 200 ms.
  await takePagePoint(app, addressKey)
  const words = wordsOf(inLanguage(app, row.document.language))
  const file = await invoicePdf(shown, documentUrl(app, order, row, { proof }), words)
  return { file, type: 'application/pdf', name: `${row.number.replaceAll(/[^\w.-]/g, '_')}.pdf` }
}

type Seen = { proof: string | null; isBuyer: boolean }

function page(app: App, order: OrderRow, row: InvoiceRow, { proof, isBuyer }: Seen): PageReply {
  const words = wordsOf(inLanguage(app, row.document.language))
  return {
    status: 200,
    template: 'invoice',
    title: documentName(row, words),
    data: {
      lang: words.lang,
      t: words.t,
      text: toText(row, words),
      pdf: documentUrl(app, order, row, { format: 'pdf', proof }),
      others: documentsOf(app.db, order.id)
        .filter(({ id }) => id !== row.id)
        .map((other) => ({ label: documentName(other, words), url: documentUrl(app, order, other, { proof }) })),
      order: statusUrl(app, order),
      prove: isBuyer || order.email === null ? null : provePath(order, 'invoice')
    }
  }
}
