import { AppError } from '../errors.ts'
import type { App } from '../app.ts'
import { isBuyerOf } from '../shop/checkout/order-visitor.ts'
import { takePagePoint } from '../shop/checkout/limits.ts'
import { documentsOf, getDocument } from '../shop/invoices/find.ts'
import { eInvoiceFormats, obstacleOf } from '../shop/invoices/e-invoice.ts'
import type { EInvoiceFormat } from '../shop/invoices/e-invoice.ts'
import { documentFile, documentFormats, isForBusiness } from '../shop/invoices/e-invoice-file.ts'
import type { DocumentFormat } from '../shop/invoices/e-invoice-file.ts'
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
 * The invoice of an order, or with `number` one of its credit notes; as a PDF with `format=pdf`,
 * and as an electronic invoice with `format=facturx` or `format=xrechnung`. The name and the address
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
  const format = parseFormat(query.get('format'))
  if (format === null) return page(app, order, shown, { proof, isBuyer })
  // An electronic invoice must name its buyer.
  if (format !== 'pdf' && !isBuyer) throw new AppError('NOT_FOUND', 'Only the buyer can open the electronic invoice.')
  // A PDF takes some 10 ms of the event loop, and the first one 200 ms.
  await takePagePoint(app, addressKey)
  const texts = wordsOf(inLanguage(app, row.document.language))
  const { content, type, name } = await documentFile(shown, format, {
    pageUrl: documentUrl(app, order, row, { proof }),
    texts
  })
  return { file: content, type, name }
}

/** The electronic invoices that a business can download. Their names are the same in all languages. */
function eInvoiceLinks(row: InvoiceRow, urlOf: (format: EInvoiceFormat) => string): { label: string; url: string }[] {
  const names = { facturx: 'Factur-X / ZUGFeRD', xrechnung: 'XRechnung' } as const
  const formats = eInvoiceFormats.filter((format) => isForBusiness(row) && obstacleOf(row, format) === undefined)
  return formats.map((format) => ({ label: names[format], url: urlOf(format) }))
}

/** @throws AppError VALIDATION_FAILED (400, `format`) */
function parseFormat(text: string | null): DocumentFormat | null {
  const format = documentFormats.find((each) => each === text)
  if (text === null || format !== undefined) return format ?? null
  const rule = `Must be ${documentFormats.join(', ')}, or absent for the page.`
  throw new AppError('VALIDATION_FAILED', `format: ${rule}`, { fieldErrors: { format: [rule] } }, { status: 400 })
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
      eInvoices: isBuyer ? eInvoiceLinks(row, (format) => documentUrl(app, order, row, { format, proof })) : [],
      others: documentsOf(app.db, order.id)
        .filter(({ id }) => id !== row.id)
        .map((other) => ({ label: documentName(other, words), url: documentUrl(app, order, other, { proof }) })),
      order: statusUrl(app, order),
      prove: isBuyer || order.email === null ? null : provePath(order, 'invoice')
    }
  }
}
