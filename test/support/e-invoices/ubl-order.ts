import type { Element } from './read-xml.ts'

/**
 * The order of elements in UBL 2.1 (OASIS Standard, 2013), of those that the shop writes. The official schema checks nothing
 * else about them, and no package contains it.
 */
const amountsOf = 'TaxableAmount TaxAmount TaxCategory'
const address = 'StreetName AdditionalStreetName CityName PostalZone CountrySubentity Country'
const category = 'ID Percent TaxExemptionReasonCode TaxExemptionReason TaxScheme'
const head = 'Note* DocumentCurrencyCode BuyerReference OrderReference BillingReference'
const body =
  'AccountingSupplierParty AccountingCustomerParty Delivery PaymentMeans AllowanceCharge* TaxTotal LegalMonetaryTotal'
const first = 'CustomizationID ProfileID ID IssueDate'
const line = 'LineExtensionAmount InvoicePeriod AllowanceCharge Item Price'

const order: Readonly<Record<string, string>> = {
  Invoice: `${first} InvoiceTypeCode ${head} ${body} InvoiceLine*`,
  CreditNote: `${first} CreditNoteTypeCode ${head} ${body} CreditNoteLine*`,
  InvoiceLine: `ID InvoicedQuantity ${line}`,
  CreditNoteLine: `ID CreditedQuantity ${line}`,
  OrderReference: 'ID SalesOrderID',
  BillingReference: 'InvoiceDocumentReference',
  InvoiceDocumentReference: 'ID IssueDate',
  AccountingSupplierParty: 'Party',
  AccountingCustomerParty: 'Party',
  Party: 'EndpointID PartyIdentification* PostalAddress PartyTaxScheme* PartyLegalEntity Contact',
  PartyIdentification: 'ID',
  PostalAddress: address,
  Address: address,
  Country: 'IdentificationCode',
  PartyTaxScheme: 'CompanyID TaxScheme',
  PartyLegalEntity: 'RegistrationName CompanyID CompanyLegalForm',
  Contact: 'Name Telephone ElectronicMail',
  Delivery: 'ActualDeliveryDate DeliveryLocation',
  DeliveryLocation: 'Address',
  PaymentMeans: 'PaymentMeansCode',
  AllowanceCharge: 'ChargeIndicator AllowanceChargeReasonCode AllowanceChargeReason Amount TaxCategory',
  TaxTotal: 'TaxAmount TaxSubtotal*',
  TaxSubtotal: amountsOf,
  TaxCategory: category,
  ClassifiedTaxCategory: category,
  TaxScheme: 'ID',
  LegalMonetaryTotal:
    'LineExtensionAmount TaxExclusiveAmount TaxInclusiveAmount AllowanceTotalAmount ChargeTotalAmount PrepaidAmount PayableAmount',
  Item: 'Name SellersItemIdentification ClassifiedTaxCategory',
  SellersItemIdentification: 'ID',
  InvoicePeriod: 'StartDate EndDate',
  Price: 'PriceAmount'
}

/** The elements of a UBL file that are not where UBL has them, or are empty. */
export function misplaced({ name, text, children }: Element): string[] {
  const local = (full: string): string => full.replace(/^.*:/, '')
  const allowed = order[local(name)]
  if (children.length === 0) return text.trim() === '' || allowed !== undefined ? [`${name} is empty`] : []
  if (allowed === undefined) return [`${name} has elements`]
  const pattern = allowed
    .split(' ')
    .map((part) => (part.endsWith('*') ? `(?:${part.slice(0, -1)} )*` : `(?:${part} )?`))
    .join('')
  const names = children.map((child) => `${local(child.name)} `).join('')
  const own = new RegExp(`^${pattern}$`).test(names) ? [] : [`${name}: ${names}`]
  return [...own, ...children.flatMap(misplaced)]
}
