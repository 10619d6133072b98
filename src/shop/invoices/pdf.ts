import { documentPdf } from '../../platform/pdf/document.ts'
import type { DocumentTable, EmbeddedData } from '../../platform/pdf/document.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import type { Texts, Translate } from '../../platform/texts/languages.ts'
import type { InvoiceRow } from './find.ts'
import { toText } from './text.ts'
import type { InvoiceText } from './text.ts'

type Shown = { texts?: Texts; data?: EmbeddedData }

/**
 * An invoice or a credit note as a PDF.
 *
 * @param pageUrl the address of the document's page
 */
export function invoicePdf(
  row: InvoiceRow,
  pageUrl: string,
  { texts = textsIn(row.document.language), data }: Shown = {}
): Promise<Uint8Array<ArrayBuffer>> {
  const { t } = texts
  const text = toText(row, texts)
  const taxes = text.taxes.map(({ label, base, amount }) => ({ label: t('doc.taxOf', { tax: label, base }), amount }))
  const unreadable = t('doc.unreadable', { url: pageUrl })
  const content = { ...text, taxes, table: tableOf(text, t) }
  return documentPdf(content, { issuedAt: row.issuedAt, unreadable, texts, ...(data === undefined ? {} : { data }) })
}

function tableOf({ lines, hasRates }: InvoiceText, t: Translate): DocumentTable {
  const rate = { title: t('doc.tax'), x: 410, width: 45, align: 'right' } as const
  return {
    columns: [
      { title: t('doc.item'), x: 50, width: 210, align: 'left' },
      { title: t('doc.quantity'), x: 265, width: 55, align: 'right' },
      { title: t('doc.price'), x: hasRates ? 325 : 370, width: 80, align: 'right' },
      ...(hasRates ? [rate] : []),
      { title: t('doc.amount'), x: 460, width: 85, align: 'right' }
    ],
    rows: lines.map(({ name, sku, quantity, unitPrice, rate, amount, details }) => [
      [sku === null ? name : `${name} (${sku})`, ...details].join('\n'),
      quantity,
      unitPrice,
      ...(hasRates ? [rate] : []),
      amount
    ])
  }
}
