import { z } from 'zod'
import type { FieldErrors } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toFieldErrors } from '../../platform/http/validation.ts'
import { shipToOf } from '../../platform/postal/address.ts'
import { countryName, isCountry } from '../../platform/postal/countries.ts'
import { postalFormat, readPostcode } from '../../platform/postal/format.ts'
import type { PostalField, PostalFormat } from '../../platform/postal/format.ts'
import { postalTexts, postalWords } from '../../platform/postal/words.ts'
import type { PostalTexts } from '../../platform/postal/words.ts'
import type { Language } from '../../platform/texts/languages.ts'
import { lineField } from '../accounts/fields.ts'
import { findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { needsAddress } from '../shipping/zones.ts'
import { isNamed } from '../orders/address.ts'
import type { Address, OrderContact } from '../orders/address.ts'
import { refusal } from '../orders/problems.ts'
import type { Refusal } from '../orders/problems.ts'
import { itemsOf } from '../orders/find.ts'
import type { OrderRow } from '../orders/find.ts'
import type { ChosenMethod } from '../shipping/input.ts'
import type { Sale } from './cart.ts'
import type { QuoteBody } from './input.ts'

const part = lineField(200)
  .nullish()
  .transform((text) => text ?? '')
/** An address as it was typed; a missing part is empty. `addressInput` has the rules of its country. */
export const addressParts = z.object({
  address1: part,
  address2: part,
  city: part,
  state: part,
  postcode: part,
  country: part.meta({ description: 'ISO 3166-1 alpha-2.' })
})
export type TypedAddress = z.output<typeof addressParts>
type PartName = keyof TypedAddress

const partOf: Readonly<Record<PostalField, PartName>> = { A: 'address1', C: 'city', S: 'state', Z: 'postcode' }

/**
 * An address in one of `countries`, by the rules of its country: which parts it has, which of them are required, and how a
 * postcode looks. Parts that the country does not use are dropped.
 *
 * @param language of the messages
 */
export function addressInput(countries: readonly string[], language: Language = 'en') {
  const texts = postalTexts(language)
  const { noCountry, notThere } = texts.refusals
  return addressParts.transform((typed, context): Address => {
    const country = typed.country.toUpperCase()
    const refuse = (name: PartName, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (!countries.includes(country)) {
      refuse('country', country === '' ? noCountry : notThere(countryName(country, language)))
      return z.NEVER
    }
    const format = postalFormat(country)
    const address: Address = { country, ...present('address2', typed.address2) }
    for (const field of format.lines.flat()) {
      const name = partOf[field]
      const value = read(format, field, typed[name])
      if (value === undefined) refuse(name, messages[field](format, texts))
      else Object.assign(address, present(name, value))
    }
    return address
  })
}

/** The part as it is stored, empty if it is absent; undefined if it is wrong or missing. */
function read(format: PostalFormat, field: PostalField, typed: string): string | undefined {
  if (typed === '') return format.required.includes(field) ? undefined : ''
  if (field === 'Z') return readPostcode(format, typed)
  if (field === 'S' && format.regions !== undefined) return readRegion(format.regions, typed)
  return typed
}

/** A region by its value or its label, in any case. */
function readRegion(regions: NonNullable<PostalFormat['regions']>, typed: string): string | undefined {
  const wanted = typed.toLowerCase()
  return regions.find((names) => names.some((name) => name?.toLowerCase() === wanted))?.[0]
}

const messages: Readonly<Record<PostalField, (format: PostalFormat, texts: PostalTexts) => string>> = {
  A: (_format, { refusals }) => refusals.street,
  C: (format, texts) => texts.refusals.enter(postalWords(format, texts).city),
  S: (format, texts) => {
    const { enter, choose } = texts.refusals
    return (format.regions === undefined ? enter : choose)(postalWords(format, texts).state)
  },
  Z: (format, texts) => texts.refusals.postcode(postalWords(format, texts).postcode, format.example || undefined)
}

function present(name: PartName, value: string): Partial<Address> {
  return value === '' ? {} : { [name]: value }
}

/**
 * What is wrong with the addresses of a sale. An address with a street is complete by the rules of its country, and where
 * goods are shipped to, it has the name of the recipient. An address without a street is only a place that decides about
 * prices; whether the goods need more is decided by `shippingRefusals`. Goods that are picked up need no shipping address.
 */
export function addressRefusals(db: Db, { sent, cart, shipping, userId, language }: Sale): Refusal[] {
  const isPickedUp = shipping.chosen?.pickup === true
  const names = isPickedUp ? (['billingAddress'] as const) : (['shippingAddress', 'billingAddress'] as const)
  const shipTo = needsAddress(cart.lines, shipping.chosen) ? shipToOf(sent) : null
  return names.flatMap((name) => {
    const address = sent[name]
    if (address?.address1 === undefined) return []
    const user = address === shipTo && userId !== null ? (findUserById(db, userId) ?? null) : null
    const lacksName = address === shipTo && !isNamed(address, contactOf(sent.customer, user))
    const { name: noName } = postalTexts(language).refusals
    const errors = { ...(lacksName ? { firstName: [noName] } : {}), ...errorsOf(address, language) }
    return Object.entries(errors).map(([part, [message = '']]) =>
      refusal({ path: `${name}.${part}`, code: 'address_invalid', message })
    )
  })
}

/** Only the country of an address, for what is not shipped. */
export function countryInput(language: Language = 'en') {
  const { noCountry } = postalTexts(language).refusals
  return addressParts.transform(({ country }, context): Address => {
    const code = country.toUpperCase()
    if (isCountry(code)) return { country: code }
    context.addIssue({ code: 'custom', path: ['country'], message: noCountry })
    return z.NEVER
  })
}

type SentAddress = NonNullable<QuoteBody['shippingAddress']>

/** What a buyer reads whose order does not say who gets the parcel. */
export const recipientNeeded = postalTexts('en').refusals.name

/** Whether an order is shipped, but says to no one. */
export function lacksRecipient(
  db: Db,
  order: Pick<OrderRow, 'id' | 'contact' | 'shippingAddress' | 'billingAddress'> & {
    shippingMethod: Pick<ChosenMethod, 'pickup'> | null
  }
): boolean {
  if (!needsAddress(itemsOf(db, order.id), order.shippingMethod)) return false
  return !isNamed(shipToOf(order), order.contact)
}

/** The messages for the parts of an address that its country does not accept. */
export function errorsOf(address: Partial<SentAddress>, language: Language): FieldErrors {
  const { address1 = '', address2 = '', city = '', state = '', postcode = '', country = '' } = address
  const typed = { address1, address2, city, state, postcode, country }
  const { error } = addressInput(country === '' ? [] : [country], language).safeParse(typed)
  return error === undefined ? {} : toFieldErrors(error)
}

/** The buyer's name, company and phone number as they were entered, else those of their account. */
export function contactOf(customer: QuoteBody['customer'], user: UserRow | null): OrderContact {
  const { firstName, lastName, phone, companyName } = customer ?? {}
  const known = {
    firstName: firstName ?? user?.firstName,
    lastName: lastName ?? user?.lastName,
    phone: phone ?? user?.billingPhone,
    companyName: companyName ?? user?.companyName
  }
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value))
}
