import { element, filled, xmlHead } from '../../platform/xml.ts'
import type { Xml } from '../../platform/xml.ts'
import type { EAddress, EAdjustment, EInvoice, ELine, EParty, ETax } from './e-invoice.ts'

/**
 * An electronic invoice in the syntax Cross Industry Invoice D16B (UN/CEFACT) with the profile EN 16931, which Factur-X and
 * ZUGFeRD embed in a PDF. The comments of the model name the terms.
 */
export function toCii(invoice: EInvoice): string {
  const root = element(
    'rsm:CrossIndustryInvoice',
    [
      element('rsm:ExchangedDocumentContext', [
        ram('GuidelineSpecifiedDocumentContextParameter', [ram('ID', 'urn:cen.eu:en16931:2017')])
      ]),
      element('rsm:ExchangedDocument', [
        ram('ID', invoice.number),
        ram('TypeCode', invoice.type),
        ram('IssueDateTime', [day(invoice.date)]),
        ...invoice.notes.map((note) => ram('IncludedNote', [ram('Content', note)]))
      ]),
      element('rsm:SupplyChainTradeTransaction', [
        ...invoice.lines.map(toLine),
        agreement(invoice),
        ram('ApplicableHeaderTradeDelivery', [
          invoice.delivery.to === null ? null : ram('ShipToTradeParty', [address(invoice.delivery.to)]),
          ram('ActualDeliverySupplyChainEvent', [ram('OccurrenceDateTime', [day(invoice.delivery.on)])])
        ]),
        settlement(invoice)
      ])
    ],
    namespaces
  )
  return `${xmlHead}${root.markup}\n`
}

const standard = 'urn:un:unece:uncefact:data:standard'
const namespaces = {
  'xmlns:rsm': `${standard}:CrossIndustryInvoice:100`,
  'xmlns:ram': `${standard}:ReusableAggregateBusinessInformationEntity:100`,
  'xmlns:udt': `${standard}:UnqualifiedDataType:100`,
  'xmlns:qdt': `${standard}:QualifiedDataType:100`
}

type Content = string | readonly (Xml | null)[]

const ram = (name: string, content: Content, attributes: Readonly<Record<string, string>> = {}): Xml =>
  element(`ram:${name}`, content, attributes)
const maybe = (name: string, content: Content | null): Xml | null => filled(`ram:${name}`, content)

/** A day in the form YYYYMMDD, which is 102 of the list UNTDID 2379. */
const day = (text: string, prefix: 'udt' | 'qdt' = 'udt'): Xml =>
  element(`${prefix}:DateTimeString`, text.replaceAll('-', ''), { format: '102' })

function agreement({ buyerReference, seller, buyer, order }: EInvoice): Xml {
  return ram('ApplicableHeaderTradeAgreement', [
    ram('BuyerReference', buyerReference),
    ram('SellerTradeParty', [
      // Without a VAT id, the tax number says who sells (BR-CO-26).
      seller.vatId === null ? maybe('ID', seller.taxNumber) : null,
      ram('Name', seller.name),
      maybe('Description', seller.legal),
      maybe('SpecifiedLegalOrganization', [maybe('ID', seller.register)]),
      ...partyTail(seller),
      ...registrations({ VA: seller.vatId, FC: seller.taxNumber })
    ]),
    ram('BuyerTradeParty', [ram('Name', buyer.name), ...partyTail(buyer), ...registrations({ VA: buyer.vatId })]),
    ram('SellerOrderReferencedDocument', [ram('IssuerAssignedID', order)])
  ])
}

function partyTail({ contact, address: postal, electronicAddress }: EParty): (Xml | null)[] {
  return [
    contact === null
      ? null
      : ram('DefinedTradeContact', [
          ram('PersonName', contact.name),
          maybe('TelephoneUniversalCommunication', [maybe('CompleteNumber', contact.phone)]),
          maybe('EmailURIUniversalCommunication', [maybe('URIID', contact.email)])
        ]),
    address(postal),
    electronicAddress === null
      ? null
      : ram('URIUniversalCommunication', [ram('URIID', electronicAddress, { schemeID: 'EM' })])
  ]
}

function registrations(ids: Readonly<Record<string, string | null>>): (Xml | null)[] {
  return Object.entries(ids).map(([schemeID, id]) =>
    id === null ? null : ram('SpecifiedTaxRegistration', [ram('ID', id, { schemeID })])
  )
}

function address({ line1, line2, city, postcode, state, country }: EAddress): Xml {
  return ram('PostalTradeAddress', [
    maybe('PostcodeCode', postcode),
    maybe('LineOne', line1),
    maybe('LineTwo', line2),
    maybe('CityName', city),
    ram('CountryID', country),
    maybe('CountrySubDivisionName', state)
  ])
}

function settlement(invoice: EInvoice): Xml {
  const { currency, taxes, adjustments, sums, precedes } = invoice
  return ram('ApplicableHeaderTradeSettlement', [
    ram('InvoiceCurrencyCode', currency),
    ram('SpecifiedTradeSettlementPaymentMeans', [
      ram('TypeCode', invoice.payment.code),
      ram('Information', invoice.payment.text)
    ]),
    ...taxes.map(({ base, amount, reason, reasonCode, code, percent }) =>
      ram('ApplicableTradeTax', [
        ram('CalculatedAmount', amount),
        ram('TypeCode', 'VAT'),
        maybe('ExemptionReason', reason),
        ram('BasisAmount', base),
        ram('CategoryCode', code),
        maybe('ExemptionReasonCode', reasonCode),
        maybe('RateApplicablePercent', percent)
      ])
    ),
    ...adjustments.map((adjustment) => allowanceCharge(adjustment, adjustment.tax)),
    ram('SpecifiedTradeSettlementHeaderMonetarySummation', [
      ram('LineTotalAmount', sums.lines),
      ram('ChargeTotalAmount', sums.charges),
      ram('AllowanceTotalAmount', sums.allowances),
      ram('TaxBasisTotalAmount', sums.net),
      ram('TaxTotalAmount', sums.tax, { currencyID: currency }),
      ram('GrandTotalAmount', sums.total),
      ram('TotalPrepaidAmount', sums.paid),
      ram('DuePayableAmount', sums.due)
    ]),
    precedes === null
      ? null
      : ram('InvoiceReferencedDocument', [
          ram('IssuerAssignedID', precedes.number),
          ram('FormattedIssueDateTime', [day(precedes.date, 'qdt')])
        ])
  ])
}

function allowanceCharge({ isCharge, amount, reason, reasonCode }: EAdjustment, tax: ETax | null): Xml {
  return ram('SpecifiedTradeAllowanceCharge', [
    ram('ChargeIndicator', [element('udt:Indicator', String(isCharge))]),
    ram('ActualAmount', amount),
    maybe('ReasonCode', reasonCode),
    ram('Reason', reason),
    tax === null ? null : ram('CategoryTradeTax', taxParts(tax))
  ])
}

const taxParts = ({ code, percent }: ETax): (Xml | null)[] => [
  ram('TypeCode', 'VAT'),
  ram('CategoryCode', code),
  maybe('RateApplicablePercent', percent)
]

function toLine({ id, name, sku, quantity, unit, price, net, tax, period, discount }: ELine): Xml {
  return ram('IncludedSupplyChainTradeLineItem', [
    ram('AssociatedDocumentLineDocument', [ram('LineID', id)]),
    ram('SpecifiedTradeProduct', [maybe('SellerAssignedID', sku), ram('Name', name)]),
    ram('SpecifiedLineTradeAgreement', [ram('NetPriceProductTradePrice', [ram('ChargeAmount', price)])]),
    ram('SpecifiedLineTradeDelivery', [ram('BilledQuantity', quantity, { unitCode: unit })]),
    ram('SpecifiedLineTradeSettlement', [
      ram('ApplicableTradeTax', taxParts(tax)),
      period === null
        ? null
        : ram('BillingSpecifiedPeriod', [
            ram('StartDateTime', [day(period.from)]),
            ram('EndDateTime', [day(period.to)])
          ]),
      discount === null ? null : allowanceCharge(discount, null),
      ram('SpecifiedTradeSettlementLineMonetarySummation', [ram('LineTotalAmount', net)])
    ])
  ])
}
