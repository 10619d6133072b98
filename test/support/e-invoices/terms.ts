import { allAt, readXml, textAt } from './read-xml.ts'
import type { Element } from './read-xml.ts'

/** The business terms of EN 16931 that its rules are about. Amounts are text as in the file; absent terms are null. */
export type Terms = {
  specification: string | null
  type: string | null
  number: string | null
  date: string | null
  currency: string | null
  buyerReference: string | null
  seller: Party
  buyer: Party
  deliveryDate: string | null
  deliverTo: { country: string | null; city: string | null; postcode: string | null } | null
  preceding: { number: string | null; date: string | null } | null
  lines: {
    net: string | null
    quantity: string | null
    unit: string | null
    price: string | null
    name: string | null
    sku: string | null
    tax: Tax
    allowances: string[]
    period: { from: string | null; to: string | null } | null
  }[]
  adjustments: { isCharge: boolean; amount: string | null; reason: string | null; tax: Tax }[]
  taxes: (Tax & {
    base: string | null
    amount: string | null
    reason: string | null
    reasonCode: string | null
  })[]
  sums: Record<'lines' | 'allowances' | 'charges' | 'net' | 'tax' | 'total' | 'paid' | 'due', string | null>
  /** The codes in `currencyID` of all amounts. */
  currencies: string[]
}
type Tax = { code: string | null; percent: string | null }
type Party = {
  name: string | null
  ids: (string | null)[]
  vatId: string | null
  taxNumber: string | null
  country: string | null
  city: string | null
  postcode: string | null
  contact: { name: string | null; phone: string | null; email: string | null } | null
  electronicAddress: { scheme: string | undefined; id: string } | null
}

/** The terms in the syntax CII. */
export function ciiTerms(source: string): Terms {
  const root = readXml(source)
  const trade = only(root, 'SupplyChainTradeTransaction')
  const agreement = only(trade, 'ApplicableHeaderTradeAgreement')
  const settlement = only(trade, 'ApplicableHeaderTradeSettlement')
  const sums = only(settlement, 'SpecifiedTradeSettlementHeaderMonetarySummation')
  const [preceding] = allAt(settlement, 'InvoiceReferencedDocument')
  const [shipTo] = allAt(trade, 'ApplicableHeaderTradeDelivery/ShipToTradeParty/PostalTradeAddress')
  return {
    specification: textAt(root, 'ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID'),
    type: textAt(root, 'ExchangedDocument/TypeCode'),
    number: textAt(root, 'ExchangedDocument/ID'),
    date: day(textAt(root, 'ExchangedDocument/IssueDateTime/DateTimeString')),
    currency: textAt(settlement, 'InvoiceCurrencyCode'),
    buyerReference: textAt(agreement, 'BuyerReference'),
    seller: ciiParty(only(agreement, 'SellerTradeParty')),
    buyer: ciiParty(only(agreement, 'BuyerTradeParty')),
    deliveryDate: day(
      textAt(trade, 'ApplicableHeaderTradeDelivery/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString')
    ),
    deliverTo:
      shipTo === undefined
        ? null
        : {
            country: textAt(shipTo, 'CountryID'),
            city: textAt(shipTo, 'CityName'),
            postcode: textAt(shipTo, 'PostcodeCode')
          },
    preceding:
      preceding === undefined
        ? null
        : {
            number: textAt(preceding, 'IssuerAssignedID'),
            date: day(textAt(preceding, 'FormattedIssueDateTime/DateTimeString'))
          },
    lines: allAt(trade, 'IncludedSupplyChainTradeLineItem').map(ciiLine),
    adjustments: allAt(settlement, 'SpecifiedTradeAllowanceCharge').map((each) => ({
      isCharge: textAt(each, 'ChargeIndicator/Indicator') === 'true',
      amount: textAt(each, 'ActualAmount'),
      reason: textAt(each, 'Reason'),
      tax: ciiTax(only(each, 'CategoryTradeTax'))
    })),
    taxes: allAt(settlement, 'ApplicableTradeTax').map((tax) => ({
      ...ciiTax(tax),
      base: textAt(tax, 'BasisAmount'),
      amount: textAt(tax, 'CalculatedAmount'),
      reason: textAt(tax, 'ExemptionReason'),
      reasonCode: textAt(tax, 'ExemptionReasonCode')
    })),
    sums: {
      lines: textAt(sums, 'LineTotalAmount'),
      allowances: textAt(sums, 'AllowanceTotalAmount'),
      charges: textAt(sums, 'ChargeTotalAmount'),
      net: textAt(sums, 'TaxBasisTotalAmount'),
      tax: textAt(sums, 'TaxTotalAmount'),
      total: textAt(sums, 'GrandTotalAmount'),
      paid: textAt(sums, 'TotalPrepaidAmount'),
      due: textAt(sums, 'DuePayableAmount')
    },
    currencies: currenciesIn(root)
  }
}

function ciiLine(line: Element): Terms['lines'][number] {
  const settlement = only(line, 'SpecifiedLineTradeSettlement')
  const [period] = allAt(settlement, 'BillingSpecifiedPeriod')
  const quantity = only(line, 'SpecifiedLineTradeDelivery/BilledQuantity')
  return {
    net: textAt(settlement, 'SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount'),
    quantity: quantity.text,
    unit: quantity.attributes['unitCode'] ?? null,
    price: textAt(line, 'SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount'),
    name: textAt(line, 'SpecifiedTradeProduct/Name'),
    sku: textAt(line, 'SpecifiedTradeProduct/SellerAssignedID'),
    tax: ciiTax(only(settlement, 'ApplicableTradeTax')),
    allowances: allAt(settlement, 'SpecifiedTradeAllowanceCharge/ActualAmount').map(({ text }) => text),
    period:
      period === undefined
        ? null
        : {
            from: day(textAt(period, 'StartDateTime/DateTimeString')),
            to: day(textAt(period, 'EndDateTime/DateTimeString'))
          }
  }
}

function ciiParty(party: Element): Party {
  const registered = (scheme: string): string | null =>
    allAt(party, 'SpecifiedTaxRegistration/ID').find(({ attributes }) => attributes['schemeID'] === scheme)?.text ??
    null
  const [contact] = allAt(party, 'DefinedTradeContact')
  const [address] = allAt(party, 'URIUniversalCommunication/URIID')
  return {
    name: textAt(party, 'Name'),
    ids: [...allAt(party, 'ID'), ...allAt(party, 'SpecifiedLegalOrganization/ID')].map(({ text }) => text),
    vatId: registered('VA'),
    taxNumber: registered('FC'),
    country: textAt(party, 'PostalTradeAddress/CountryID'),
    city: textAt(party, 'PostalTradeAddress/CityName'),
    postcode: textAt(party, 'PostalTradeAddress/PostcodeCode'),
    contact:
      contact === undefined
        ? null
        : {
            name: textAt(contact, 'PersonName'),
            phone: textAt(contact, 'TelephoneUniversalCommunication/CompleteNumber'),
            email: textAt(contact, 'EmailURIUniversalCommunication/URIID')
          },
    electronicAddress: address === undefined ? null : { scheme: address.attributes['schemeID'], id: address.text }
  }
}

function ciiTax(tax: Element): Tax {
  return { code: textAt(tax, 'CategoryCode'), percent: textAt(tax, 'RateApplicablePercent') }
}

function only(from: Element, path: string): Element {
  const [found, other] = allAt(from, path)
  if (found === undefined || other !== undefined) throw new Error(`${from.name} has not exactly one ${path}`)
  return found
}

/** A day of the form YYYYMMDD as YYYY-MM-DD. */
function day(text: string | null): string | null {
  return text === null ? null : text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')
}

function currenciesIn({ attributes, children }: Element): string[] {
  const own = attributes['currencyID']
  return [...(own === undefined ? [] : [own]), ...children.flatMap(currenciesIn)]
}
