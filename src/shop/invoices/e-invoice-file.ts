import { AppError } from '../../errors.ts'
import type { EmbeddedData } from '../../platform/pdf/document.ts'
import { textsIn } from '../../platform/texts/languages.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { element } from '../../platform/xml.ts'
import { toCii } from './cii.ts'
import { obstacleOf, toEInvoice } from './e-invoice.ts'
import type { EInvoiceFormat, Obstacle } from './e-invoice.ts'
import type { InvoiceRow } from './find.ts'
import { invoicePdf } from './pdf.ts'
import { documentName } from './text.ts'
import { toUbl } from './ubl.ts'

/** A document as a file. */
export type DocumentFile = { name: string; type: string; content: Uint8Array<ArrayBuffer> }

/** The forms of a document as a file. */
export const documentFormats = ['pdf', 'facturx', 'xrechnung'] as const
export type DocumentFormat = (typeof documentFormats)[number]

/**
 * A document as a file: a PDF for people, a PDF that carries the data of EN 16931 (Factur-X, ZUGFeRD), or XML (XRechnung).
 *
 * @param pageUrl the address of the document's page
 * @throws AppError CONFLICT if the document can't be an electronic invoice
 */
export async function documentFile(
  row: InvoiceRow,
  format: DocumentFormat,
  { pageUrl, texts = textsIn(row.document.language) }: { pageUrl: string; texts?: Texts }
): Promise<DocumentFile> {
  if (format !== 'pdf') assertEInvoice(row, format)
  // A prefix can contain characters that file systems reject.
  const name = row.number.replaceAll(/[^\w.-]/g, '_')
  if (format === 'xrechnung') {
    const content = new Uint8Array(Buffer.from(toUbl(toEInvoice(row, texts))))
    return { name: `${name}.xml`, type: 'application/xml; charset=utf-8', content }
  }
  const data = format === 'facturx' ? { data: facturX(row, texts) } : {}
  return { name: `${name}.pdf`, type: 'application/pdf', content: await invoicePdf(row, pageUrl, { texts, ...data }) }
}

/** The data of Factur-X 1.07 and ZUGFeRD 2.3 in a PDF: the names are those of the specification. */
function facturX(row: InvoiceRow, texts: Texts): EmbeddedData {
  return {
    name: 'factur-x.xml',
    type: 'text/xml',
    description: documentName(row, texts),
    content: toCii(toEInvoice(row, texts)),
    metadata: `${facts}${schema}`
  }
}

const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#'
const properties = {
  DocumentFileName: ['factur-x.xml', 'The name of the embedded XML document'],
  DocumentType: ['INVOICE', 'The type of the hybrid document in capital letters'],
  Version: ['1.0', 'The actual version of the standard applying to the embedded XML document'],
  ConformanceLevel: ['EN 16931', 'The conformance level of the embedded XML document']
} as const

const facts = element(
  'rdf:Description',
  Object.entries(properties).map(([name, [value]]) => element(`fx:${name}`, value)),
  { 'rdf:about': '', 'xmlns:fx': namespace }
).markup

/** The extension schema that PDF/A asks for properties that it does not know (ISO 19005-3, 6.6.2.3.3). */
const schema = element(
  'rdf:Description',
  [
    element('pdfaExtension:schemas', [
      element('rdf:Bag', [
        element(
          'rdf:li',
          [
            element('pdfaSchema:schema', 'Factur-X PDFA Extension Schema'),
            element('pdfaSchema:namespaceURI', namespace),
            element('pdfaSchema:prefix', 'fx'),
            element('pdfaSchema:property', [
              element(
                'rdf:Seq',
                Object.entries(properties).map(([name, [, about]]) =>
                  element(
                    'rdf:li',
                    [
                      element('pdfaProperty:name', name),
                      element('pdfaProperty:valueType', 'Text'),
                      element('pdfaProperty:category', 'external'),
                      element('pdfaProperty:description', about)
                    ],
                    { 'rdf:parseType': 'Resource' }
                  )
                )
              )
            ])
          ],
          { 'rdf:parseType': 'Resource' }
        )
      ])
    ])
  ],
  {
    'rdf:about': '',
    'xmlns:pdfaExtension': 'http://www.aiim.org/pdfa/ns/extension/',
    'xmlns:pdfaSchema': 'http://www.aiim.org/pdfa/ns/schema#',
    'xmlns:pdfaProperty': 'http://www.aiim.org/pdfa/ns/property#'
  }
).markup

/** Whether the buyer is a business, which can read electronic invoices and may be required to have them. */
export function isForBusiness({ buyer }: Pick<InvoiceRow, 'buyer'>): boolean {
  if (buyer === null) return false
  return buyer.vatId !== null || buyer.address.company !== undefined || buyer.reference !== undefined
}

/** @throws AppError CONFLICT that says what the document lacks, and the command that adds it */
function assertEInvoice(row: InvoiceRow, format: EInvoiceFormat): void {
  const obstacle = obstacleOf(row, format)
  if (obstacle !== undefined) throw new AppError('CONFLICT', `${row.number} ${reasonText(obstacle, row)}`)
}

/** Obstacles that the shop cannot remove. */
const lasting = {
  erased: 'it does not name its buyer.',
  currency: 'its currency has three decimals, and EN 16931 has two.',
  untaxed: 'the shop has no tax rate for a part of it, so it cannot say why that part has no tax.',
  mixed:
    'it has gift cards or services that are not subject to VAT beside other goods, and EN 16931 (BR-O-11) has no form for both.'
} as const

/** The rest of a sentence that begins with the document. */
function reasonText(obstacle: Obstacle, { orderId }: InvoiceRow): string {
  const again = `"shopstead orders invoice ${orderId} --correct" issues it again.`
  const reason =
    obstacle.kind === 'seller'
      ? `it lacks ${obstacle.lacks.join(', ')}. When that is set, ${again}`
      : obstacle.kind === 'buyer'
        ? `its buyer lacks ${obstacle.lacks.join(', ')}. With that, ${again}`
        : lasting[obstacle.kind]
  return `cannot be an electronic invoice: ${reason}`
}
