import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { postalLines } from '../../platform/postal/address.ts'
import type { Texts } from '../../platform/texts/languages.ts'
import { keysOf } from '../../platform/typed.ts'
import type { SettingKey } from './definitions.ts'
import { setting } from './settings.ts'

/** Who sells, as documents and emails name them. A part that the shop did not set is empty. */
export const seller = z.object({
  name: z.string(),
  street: z.string(),
  postcode: z.string(),
  city: z.string(),
  /** An ISO 3166-1 code. */
  country: z.string(),
  vatId: z.string(),
  taxNumber: z.string(),
  register: z.string(),
  bankAccount: z.string(),
  email: z.string(),
  phone: z.string(),
  /** What else the law asks for, in lines. */
  legal: z.string()
})
export type Seller = z.output<typeof seller>

/** The seller by the settings of the moment. Without `shop.legal.name`, the shop's own name. */
export function sellerOf(db: Db): Seller {
  return {
    name: setting(db, 'shop.legal.name') || setting(db, 'shop.name'),
    street: setting(db, 'shop.legal.street'),
    postcode: setting(db, 'shop.legal.postcode'),
    city: setting(db, 'shop.legal.city'),
    country: setting(db, 'shop.country'),
    vatId: setting(db, 'shop.legal.vatId'),
    taxNumber: setting(db, 'shop.legal.taxNumber'),
    register: setting(db, 'shop.legal.register'),
    bankAccount: setting(db, 'shop.legal.bankAccount'),
    email: setting(db, 'shop.legal.email'),
    phone: setting(db, 'shop.legal.phone'),
    legal: setting(db, 'shop.legal')
  }
}

/** The name of the seller, and the address as an envelope has it: as a whole, or not at all. */
export function senderLines(
  { name, street, postcode, city, country }: Seller,
  { textLanguage }: Pick<Texts, 'textLanguage'>
): string[] {
  const place = { address1: street, postcode, city, ...(country === '' ? {} : { country }) }
  return [name, ...(street === '' && city === '' ? [] : postalLines(place, textLanguage))]
}

/** The seller in lines, the name first. */
export function sellerLines(seller: Seller, { t, textLanguage }: Pick<Texts, 't' | 'textLanguage'>): string[] {
  const { vatId, taxNumber, register, bankAccount, email, phone, legal } = seller
  const numbers = [
    vatId === '' ? '' : t('doc.vatId', { id: vatId }),
    taxNumber === '' ? '' : t('seller.taxNumber', { number: taxNumber }),
    register,
    bankAccount === '' ? '' : t('seller.bankAccount', { account: bankAccount }),
    phone,
    email
  ]
  return [...senderLines(seller, { textLanguage }), ...numbers, ...legal.split('\n')]
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The seller as emails end with it; empty if the settings say nothing about it. */
export function sellerText(db: Db, texts: Pick<Texts, 't' | 'textLanguage'>): string {
  const [name = '', ...lines] = sellerLines(sellerOf(db), texts)
  return (setting(db, 'shop.legal.name') === '' ? lines : [name, ...lines]).join('\n')
}

/**
 * The settings without which invoices lack what the law of the EU asks for; none if the seller is complete. A VAT id stands
 * for a tax number.
 */
export function missingOfSeller(db: Db): SettingKey[] {
  const seller = sellerOf(db)
  // The address and the numbers can be in the free text.
  return seller.legal === '' ? emptyParts(requiredParts(seller)) : []
}

/** The settings without which documents can't be electronic invoices, which read no free text, in one form at least. */
export function missingForEInvoices(db: Db): SettingKey[] {
  const seller = sellerOf(db)
  const { email, phone } = seller
  return emptyParts({ ...requiredParts(seller), 'shop.legal.email': email, 'shop.legal.phone': phone })
}

function requiredParts({ street, postcode, city, country, vatId, taxNumber }: Seller) {
  return {
    'shop.legal.street': street,
    'shop.legal.postcode': postcode,
    'shop.legal.city': city,
    'shop.country': country,
    'shop.legal.taxNumber': vatId || taxNumber
  } as const
}

function emptyParts(parts: Partial<Record<SettingKey, string>>): SettingKey[] {
  return keysOf(parts).filter((key) => parts[key] === '')
}
