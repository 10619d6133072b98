import { element, filled, xmlHead } from '../../platform/xml.ts'
import type { Xml } from '../../platform/xml.ts'
import type { EAddress, EAdjustment, EInvoice, ELine, EParty, ETax } from './e-invoice.ts'

/**
 * An electronic invoice in the syntax UBL 2.1 (OASIS) by the rules of XRechnung 3.0. The comments of the model name the
 * terms.
 */
export function toUbl(invoice: EInvoice): string {
  const { type, currency } = invoice
  const isCredit = type === '381'
  const name = isCredit ? 'CreditNote' : 'Invoice'
  const amount = amountIn(currency)
  const root = element(
    name,
    [
      cbc('CustomizationID', 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0'),
      cbc('ProfileID', 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0'),
      cbc('ID', invoice.number),
      cbc('IssueDate', invoice.date),
      cbc(`${name}TypeCode`, type),
      ...invoice.notes.map((note) => cbc('Note', note)),
      cbc('DocumentCurrencyCode', currency),
      cbc('BuyerReference', invoice.buyerReference),
      // The buyer has no number for the order; UBL asks for one.
      cac('OrderReference', [cbc('ID', 'NA'), cbc('SalesOrderID', invoice.order)]),
      ...preceding(invoice),
      seller(invoice.seller),
      cac('AccountingCustomerParty', [party(invoice.buyer, [], [vatScheme(invoice.buyer.vatId, 'VAT')])]),
      delivery(invoice.delivery),
      cac('PaymentMeans', [element('cbc:PaymentMeansCode', invoice.payment.code, { name: invoice.payment.text })]),
      ...invoice.adjustments.map((adjustment) => allowanceCharge(adjustment, amount, adjustment.tax)),
      taxTotal(invoice, amount),
      sums(invoice, amount),
      ...invoice.lines.map((line) => toLine(line, isCredit, amount))
    ],
    {
      xmlns: `urn:oasis:names:specification:ubl:schema:xsd:${name}-2`,
      'xmlns:cac': 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
      'xmlns:cbc': 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2'
    }
  )
  return `${xmlHead}${root.markup}\n`
}

type Amount = (name: string, amount: string) => Xml

const cbc = (name: string, text: string): Xml => element(`cbc:${name}`, text)
const maybe = (name: string, text: string | null): Xml | null => filled(`cbc:${name}`, text)
const cac = (name: string, content: readonly (Xml | null)[]): Xml => element(`cac:${name}`, content)
const amountIn =
  (currencyID: string): Amount =>
  (name, amount) =>
    element(`cbc:${name}`, amount, { currencyID })

function preceding({ precedes }: EInvoice): Xml[] {
  if (precedes === null) return []
  const { number, date } = precedes
  return [cac('BillingReference', [cac('InvoiceDocumentReference', [cbc('ID', number), cbc('IssueDate', date)])])]
}

function seller(from: EInvoice['seller']): Xml {
  const { vatId, taxNumber } = from
  // Without a VAT id, the tax number says who sells (BR-CO-26).
  const ids = vatId === null && taxNumber !== null ? [cac('PartyIdentification', [cbc('ID', taxNumber)])] : []
  return cac('AccountingSupplierParty', [
    party(
      from,
      ids,
      [vatScheme(vatId, 'VAT'), vatScheme(taxNumber, 'FC')],
      [maybe('CompanyID', from.register), maybe('CompanyLegalForm', from.legal)]
    )
  ])
}

function vatScheme(id: string | null, scheme: 'VAT' | 'FC'): Xml | null {
  return id === null ? null : cac('PartyTaxScheme', [cbc('CompanyID', id), cac('TaxScheme', [cbc('ID', scheme)])])
}

function party(
  { name, electronicAddress, address: postal, contact }: EParty,
  ids: readonly Xml[],
  schemes: readonly (Xml | null)[],
  legal: readonly (Xml | null)[] = []
): Xml {
  return cac('Party', [
    electronicAddress === null ? null : element('cbc:EndpointID', electronicAddress, { schemeID: 'EM' }),
    ...ids,
    cac('PostalAddress', addressParts(postal)),
    ...schemes,
    cac('PartyLegalEntity', [cbc('RegistrationName', name), ...legal]),
    contact === null
      ? null
      : cac('Contact', [
          cbc('Name', contact.name),
          maybe('Telephone', contact.phone),
          maybe('ElectronicMail', contact.email)
        ])
  ])
}

function addressParts({ line1, line2, city, postcode, state, country }: EAddress): (Xml | null)[] {
  return [
    maybe('StreetName', line1),
    maybe('AdditionalStreetName', line2),
    maybe('CityName', city),
    maybe('PostalZone', postcode),
    maybe('CountrySubentity', state),
    cac('Country', [cbc('IdentificationCode', country)])
  ]
}

function delivery({ on, to }: EInvoice['delivery']): Xml {
  // An address has a city and a postcode, or is not there (BR-DE-10, BR-DE-11).
  const isWhole = to !== null && to.city !== null && to.postcode !== null
  return cac('Delivery', [
    cbc('ActualDeliveryDate', on),
    !isWhole ? null : cac('DeliveryLocation', [cac('Address', addressParts(to))])
  ])
}

function taxTotal({ taxes, sums: { tax } }: EInvoice, amount: Amount): Xml {
  return cac('TaxTotal', [
    amount('TaxAmount', tax),
    ...taxes.map((each) =>
      cac('TaxSubtotal', [
        amount('TaxableAmount', each.base),
        amount('TaxAmount', each.amount),
        cac('TaxCategory', [
          cbc('ID', each.code),
          // XRechnung has a rate also for what is not subject to VAT (BR-DE-14).
          cbc('Percent', each.percent ?? '0'),
          maybe('TaxExemptionReasonCode', each.reasonCode),
          maybe('TaxExemptionReason', each.reason),
          vat
        ])
      ])
    )
  ])
}

const vat = cac('TaxScheme', [cbc('ID', 'VAT')])

function sums({ sums }: EInvoice, amount: Amount): Xml {
  return cac('LegalMonetaryTotal', [
    amount('LineExtensionAmount', sums.lines),
    amount('TaxExclusiveAmount', sums.net),
    amount('TaxInclusiveAmount', sums.total),
    amount('AllowanceTotalAmount', sums.allowances),
    amount('ChargeTotalAmount', sums.charges),
    amount('PrepaidAmount', sums.paid),
    amount('PayableAmount', sums.due)
  ])
}

function allowanceCharge({ isCharge, reason, reasonCode, ...by }: EAdjustment, amount: Amount, tax: ETax | null): Xml {
  return cac('AllowanceCharge', [
    cbc('ChargeIndicator', String(isCharge)),
    maybe('AllowanceChargeReasonCode', reasonCode),
    cbc('AllowanceChargeReason', reason),
    amount('Amount', by.amount),
    tax === null ? null : category('TaxCategory', tax)
  ])
}

function category(name: 'TaxCategory' | 'ClassifiedTaxCategory', { code, percent }: ETax): Xml {
  return cac(name, [cbc('ID', code), maybe('Percent', percent), vat])
}

function toLine(line: ELine, isCredit: boolean, amount: Amount): Xml {
  const { id, name, sku, quantity, unit, price, net, tax, period, discount } = line
  return cac(isCredit ? 'CreditNoteLine' : 'InvoiceLine', [
    cbc('ID', id),
    element(isCredit ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', quantity, { unitCode: unit }),
    amount('LineExtensionAmount', net),
    period === null ? null : cac('InvoicePeriod', [cbc('StartDate', period.from), cbc('EndDate', period.to)]),
    discount === null ? null : allowanceCharge(discount, amount, null),
    cac('Item', [
      cbc('Name', name),
      filled('cac:SellersItemIdentification', [maybe('ID', sku)]),
      category('ClassifiedTaxCategory', tax)
    ]),
    cac('Price', [amount('PriceAmount', price)])
  ])
}
