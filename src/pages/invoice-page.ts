import type { App } from '../app.ts'
import { takePagePoint } from '../shop/checkout/limits.ts'
import { documentsOf, getDocument } from '../shop/invoices/find.ts'
import { invoicePdf } from '../shop/invoices/pdf.ts'
import type { InvoiceRow } from '../shop/invoices/find.ts'
import { documentName, toText } from '../shop/invoices/text.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import { documentUrl, statusUrl } from '../shop/orders/view.ts'
import type { OrderRow } from '../shop/orders/find.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'

/** The invoice of an order, or with `number` one of its credit notes; as a PDF with `format=pdf`. */
export const invoicePages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/checkout\/invoice\/([A-Za-z0-9_-]{1,100})$/,
    name: '/checkout/invoice/:token',
    handle: show
  }
]

async function show({ app, request, param, addressKey }: PageCall): Promise<PageReply> {
  const query = new URL(request.url).searchParams
  const order = getOrderByPublicToken(app.db, param)
  const row = getDocument(app.db, order.id, query.get('number'))
  if (query.get('format') !== 'pdf') return page(app, order, row)
  // A PDF takes some 10 ms of the event loop, and the first one 200 ms.
  await takePagePoint(app, addressKey)
  const file = await invoicePdf(row, documentUrl(app, order, row))
  return { file, type: 'application/pdf', name: `${row.number.replaceAll(/[^\w.-]/g, '_')}.pdf` }
}

function page(app: App, order: OrderRow, row: InvoiceRow): PageReply {
  return {
    status: 200,
    template: 'invoice',
    title: documentName(row),
    data: {
      text: toText(row),
      pdf: documentUrl(app, order, row, 'pdf'),
      others: documentsOf(app.db, order.id)
        .filter(({ id }) => id !== row.id)
        .map((other) => ({ label: documentName(other), url: documentUrl(app, order, other) })),
      order: statusUrl(app, order)
    }
  }
}
