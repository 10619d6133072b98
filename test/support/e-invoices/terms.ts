import { allAt, firstAt, readXml, textAt } from './read-xml.ts'
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
    deliverTo: firstAt(trade, 'ApplicableHeaderTradeDelivery/ShipToTradeParty/PostalTradeAddress', (address) => ({
      country: textAt(address, 'CountryID'),
      city: textAt(address, 'CityName'),
      postcode: textAt(address, 'PostcodeCode')
    })),
    preceding: firstAt(settlement, 'InvoiceReferencedDocument', (preceding) => ({
      number: textAt(preceding, 'IssuerAssignedID'),
      date: day(textAt(preceding, 'FormattedIssueDateTime/DateTimeString'))
    })),
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
    period: firstAt(settlement, 'BillingSpecifiedPeriod', (period) => ({
      from: day(textAt(period, 'StartDateTime/DateTimeString')),
      to: day(textAt(period, 'EndDateTime/DateTimeString'))
    }))
  }
}

function ciiParty(party: Element): Party {
  const registered = (scheme: string): string | null =>
    allAt(party, 'SpecifiedTaxRegistration/ID').find(({ attributes }) => attributes['schemeID'] === scheme)?.text ??
    null
  return {
    name: textAt(party, 'Name'),
    ids: [...allAt(party, 'ID'), ...allAt(party, 'SpecifiedLegalOrganization/ID')].map(({ text }) => text),
    vatId: registered('VA'),
    taxNumber: registered('FC'),
    country: textAt(party, 'PostalTradeAddress/CountryID'),
    city: textAt(party, 'PostalTradeAddress/CityName'),
    postcode: textAt(party, 'PostalTradeAddress/PostcodeCode'),
    contact: firstAt(party, 'DefinedTradeContact', (contact) => ({
      name: textAt(contact, 'PersonName'),
      phone: textAt(contact, 'TelephoneUniversalCommunication/CompleteNumber'),
      email: textAt(contact, 'EmailURIUniversalCommunication/URIID')
    })),
    electronicAddress: firstAt(party, 'URIUniversalCommunication/URIID', withScheme)
  }
}

function ciiTax(tax: Element): Tax {
  return { code: textAt(tax, 'CategoryCode'), percent: textAt(tax, 'RateApplicablePercent') }
}

/** The terms in the syntax UBL. */
export function ublTerms(source: string): Terms {
  const root = readXml(source)
  const sums = only(root, 'LegalMonetaryTotal')
  const isCredit = root.name === 'CreditNote'
  return {
    specification: textAt(root, 'CustomizationID'),
    type: textAt(root, isCredit ? 'CreditNoteTypeCode' : 'InvoiceTypeCode'),
    number: textAt(root, 'ID'),
    date: textAt(root, 'IssueDate'),
    currency: textAt(root, 'DocumentCurrencyCode'),
    buyerReference: textAt(root, 'BuyerReference'),
    seller: ublParty(only(root, 'AccountingSupplierParty/Party')),
    buyer: ublParty(only(root, 'AccountingCustomerParty/Party')),
    deliveryDate: textAt(root, 'Delivery/ActualDeliveryDate'),
    deliverTo: firstAt(root, 'Delivery/DeliveryLocation/Address', (address) => ({
      country: textAt(address, 'Country/IdentificationCode'),
      city: textAt(address, 'CityName'),
      postcode: textAt(address, 'PostalZone')
    })),
    preceding: firstAt(root, 'BillingReference/InvoiceDocumentReference', (preceding) => ({
      number: textAt(preceding, 'ID'),
      date: textAt(preceding, 'IssueDate')
    })),
    lines: allAt(root, isCredit ? 'CreditNoteLine' : 'InvoiceLine').map((line) => ublLine(line, isCredit)),
    adjustments: allAt(root, 'AllowanceCharge').map((each) => ({
      isCharge: textAt(each, 'ChargeIndicator') === 'true',
      amount: textAt(each, 'Amount'),
      reason: textAt(each, 'AllowanceChargeReason'),
      tax: ublTax(only(each, 'TaxCategory'))
    })),
    taxes: allAt(root, 'TaxTotal/TaxSubtotal').map((tax) => {
      const { code, percent } = ublTax(only(tax, 'TaxCategory'))
      return {
        code,
        // XRechnung has a rate here (BR-DE-14), and none in the lines.
        percent: code === 'O' && percent === '0' ? null : percent,
        base: textAt(tax, 'TaxableAmount'),
        amount: textAt(tax, 'TaxAmount'),
        reason: textAt(tax, 'TaxCategory/TaxExemptionReason'),
        reasonCode: textAt(tax, 'TaxCategory/TaxExemptionReasonCode')
      }
    }),
    sums: {
      lines: textAt(sums, 'LineExtensionAmount'),
      allowances: textAt(sums, 'AllowanceTotalAmount'),
      charges: textAt(sums, 'ChargeTotalAmount'),
      net: textAt(sums, 'TaxExclusiveAmount'),
      tax: textAt(root, 'TaxTotal/TaxAmount'),
      total: textAt(sums, 'TaxInclusiveAmount'),
      paid: textAt(sums, 'PrepaidAmount'),
      due: textAt(sums, 'PayableAmount')
    },
    currencies: currenciesIn(root)
  }
}

function ublLine(line: Element, isCredit: boolean): Terms['lines'][number] {
  const quantity = only(line, isCredit ? 'CreditedQuantity' : 'InvoicedQuantity')
  return {
    net: textAt(line, 'LineExtensionAmount'),
    quantity: quantity.text,
    unit: quantity.attributes['unitCode'] ?? null,
    price: textAt(line, 'Price/PriceAmount'),
    name: textAt(line, 'Item/Name'),
    sku: textAt(line, 'Item/SellersItemIdentification/ID'),
    tax: ublTax(only(line, 'Item/ClassifiedTaxCategory')),
    allowances: allAt(line, 'AllowanceCharge/Amount').map(({ text }) => text),
    period: firstAt(line, 'InvoicePeriod', (period) => ({
      from: textAt(period, 'StartDate'),
      to: textAt(period, 'EndDate')
    }))
  }
}

function ublParty(party: Element): Party {
  const registered = (scheme: string): string | null => {
    const found = allAt(party, 'PartyTaxScheme').find((each) => textAt(each, 'TaxScheme/ID') === scheme)
    return found === undefined ? null : textAt(found, 'CompanyID')
  }
  return {
    name: textAt(party, 'PartyLegalEntity/RegistrationName'),
    ids: [...allAt(party, 'PartyIdentification/ID'), ...allAt(party, 'PartyLegalEntity/CompanyID')].map(
      ({ text }) => text
    ),
    vatId: registered('VAT'),
    taxNumber: registered('FC'),
    country: textAt(party, 'PostalAddress/Country/IdentificationCode'),
    city: textAt(party, 'PostalAddress/CityName'),
    postcode: textAt(party, 'PostalAddress/PostalZone'),
    contact: firstAt(party, 'Contact', (contact) => ({
      name: textAt(contact, 'Name'),
      phone: textAt(contact, 'Telephone'),
      email: textAt(contact, 'ElectronicMail')
    })),
    electronicAddress: firstAt(party, 'EndpointID', withScheme)
  }
}

function ublTax(category: Element): Tax {
  return { code: textAt(category, 'ID'), percent: textAt(category, 'Percent') }
}

function withScheme({ attributes, text }: Element): NonNullable<Party['electronicAddress']> {
  return { scheme: attributes['schemeID'], id: text }
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
