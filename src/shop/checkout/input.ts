import { z } from 'zod'
import { codePoints, compareKey } from '../../platform/text.ts'
import { emailField, lineField, textField } from '../accounts/fields.ts'
import { recipientFields } from '../gift-cards/issue.ts'
import { strategyNames, takesToken } from '../orders/strategies.ts'
import { isCountry } from '../../platform/postal/countries.ts'

/** An optional field, in which `null` counts as absent (docs/contract.md A3). */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)

/** One line of text with a limit in code points. An empty or blank line counts as absent. */
const optionalLine = (limit: number) =>
  lineField(limit)
    .nullish()
    .transform((text) => (text ? text : undefined))

const isText = (value: unknown): value is string => typeof value === 'string'

/** A browser's form sends an untouched field as an empty string, which counts as absent. */
const optionalEmail = z
  .string()
  .nullish()
  .transform((text) => (text?.trim() ? text : undefined))
  .pipe(emailField.optional())

const atMost = (limit: number) =>
  z
    .string()
    .meta({ maxLength: limit })
    .refine((text) => codePoints(text) <= limit, `Must have at most ${limit} characters.`)

const positive = z.int('Must be a whole number above 0.').positive('Must be a whole number above 0.')
const quantityRule = 'Must be a whole number from 1 to 50.'

const item = z.strictObject({
  productId: positive,
  quantity: z.int(quantityRule).min(1, quantityRule).max(50, quantityRule),
  variationId: optional(positive)
})

const countryRule = 'Must be a country as two letters, such as DE.'
const country = z
  .string(countryRule)
  .nullish()
  .transform((text) => text?.trim().toUpperCase() || undefined)
  .refine((code) => code === undefined || isCountry(code), countryRule)

/** A whole name, as Stripe has it, in two parts: the last word is the last name. */
function nameParts(name: unknown): { firstName?: string; lastName?: string } {
  const [, first = '', last = ''] = typeof name === 'string' ? (/^(?:(.*)\s)?(\S+)$/s.exec(name) ?? []) : []
  return first === '' ? (last === '' ? {} : { firstName: last }) : { firstName: first.trim(), lastName: last }
}

/**
 * An object whose fields have aliases: Stripe's names, and WooCommerce's snake_case. A field's own name takes precedence
 * over its aliases, and `firstName` and `lastName` over `name`. Unknown fields are refused by name.
 */
function withAliases<S extends z.ZodRawShape>(shape: S, aliases: { [K in keyof S]?: readonly string[] }) {
  const named = Object.entries(aliases as Record<string, readonly string[]>)
  const others = named.flatMap(([name, names]) => names.map((alias) => [alias, shape[name]] as const))
  return z.strictObject({ ...shape, name: optionalLine(200), ...Object.fromEntries(others) }).transform((sent) => {
    const values = sent as Record<string, unknown>
    const whole = values['firstName'] ?? values['first_name'] ?? values['lastName'] ?? values['last_name']
    if (whole === undefined) Object.assign(values, nameParts(values['name']))
    const valueOf = (name: string): unknown =>
      [name, ...(aliases[name as keyof S] ?? [])].map((each) => values[each]).find((value) => value !== undefined)
    return Object.fromEntries(Object.keys(shape).map((name) => [name, valueOf(name)])) as z.output<z.ZodObject<S>>
  })
}

const customer = withAliases(
  {
    email: optionalEmail,
    firstName: optionalLine(100),
    lastName: optionalLine(100),
    phone: optionalLine(40),
    companyName: optionalLine(100),
    vatId: optionalLine(40),
    createAccount: optional(z.boolean()),
    password: optional(z.string())
  },
  {
    firstName: ['first_name'],
    lastName: ['last_name'],
    companyName: ['company_name'],
    vatId: ['vat_id'],
    createAccount: ['create_account']
  }
)

const address = withAliases(
  {
    firstName: optionalLine(100),
    lastName: optionalLine(100),
    company: optionalLine(100),
    address1: optionalLine(200),
    address2: optionalLine(200),
    city: optionalLine(200),
    state: optionalLine(200),
    postcode: optionalLine(200),
    country,
    phone: optionalLine(40),
    email: optionalEmail
  },
  {
    firstName: ['first_name'],
    lastName: ['last_name'],
    address1: ['line1', 'address_1'],
    address2: ['line2', 'address_2'],
    state: ['province'],
    postcode: ['postalCode', 'postal_code']
  }
)

const couponCode = atMost(64).transform((code) => code.trim())

/** The text as sent, which the gateway gets as `return_url`. An order stores the URL's own spelling (`readWebAddress`). */
const webAddress = atMost(2048).refine(
  (text) => readWebAddress(text) !== undefined,
  'Must be an http or https address without a user name.'
)

const itemsRule = 'Must be a list of 1 to 30 items.'
const codesRule = 'Must be a list of at most 10 codes.'
const cardsRule = 'Must be a list of at most 5 codes.'

/** zod runs the refinements for an unknown strategy as well. */
function needsToken({ strategy }: { strategy?: string | undefined }): boolean {
  return strategyNames.some((name) => name === strategy && takesToken(name))
}

const items = z.array(item, itemsRule).min(1, itemsRule).max(30, itemsRule)
const buyerFields = {
  items,
  couponCode: optional(couponCode),
  couponCodes: optional(z.array(couponCode, codesRule).max(10, codesRule)),
  giftCards: optional(z.array(couponCode, cardsRule).max(5, cardsRule)).meta({
    description: 'The codes of gift cards, which pay as much of the total as is on them.'
  }),
  customer: optional(customer),
  billingAddress: optional(address),
  shippingAddress: optional(address),
  shippingMethod: optional(atMost(100)),
  subscribeAgain: optional(z.boolean()),
  strategy: optional(z.enum(strategyNames, `Must be ${strategyNames.join(' or ')}.`))
}
const fewCodes = { path: ['couponCodes'], error: codesRule }

const ignored = z
  .unknown()
  .optional()
  .meta({ description: 'Not read, so that a site can send the body of its checkout.' })

/** The body of a quote: the fields of a checkout that its price depends on. It does not read the other ones of a checkout. */
export const quoteBody = z
  .strictObject({
    ...buyerFields,
    returnUrl: ignored,
    cancelUrl: ignored,
    buyerReference: ignored,
    notes: ignored,
    paymentToken: ignored,
    immediateDelivery: ignored,
    giftRecipient: ignored
  })
  .refine((body) => distinctCodes(body) <= 10, fewCodes)
export type QuoteBody = z.output<typeof quoteBody>

/** The body of a checkout (docs/interface.md 4.7, docs/contract.md 5.6 and A3). Unknown fields at the top level and in items are rejected. */
export const checkoutBody = z
  .strictObject({
    ...buyerFields,
    returnUrl: optional(webAddress),
    cancelUrl: optional(webAddress),
    buyerReference: optionalLine(100),
    notes: optional(textField(2000)),
    immediateDelivery: optional(z.boolean()).meta({
      description:
        'Whether the buyer agrees that files are delivered at once and knows that the right to withdraw is lost by that.'
    }),
    giftRecipient: optional(z.strictObject(recipientFields)).meta({
      description:
        'Who gets the gift cards of the order by email, with a message, on a day. Without it, the buyer does.'
    }),
    paymentToken: optional(atMost(255).transform((token) => (token.trim() === '' ? undefined : token)))
  })
  .refine((body) => distinctCodes(body) <= 10, fewCodes)
  .refine((body) => !needsToken(body) || body.returnUrl !== undefined, onlyForHandoff('returnUrl'))
  .refine((body) => !needsToken(body) || body.paymentToken !== undefined, onlyForHandoff('paymentToken'))
  .refine((body) => needsToken(body) || body.paymentToken === undefined, {
    path: ['paymentToken'],
    error: 'Is only for the strategy token_handoff: send "strategy": "token_handoff", or leave the token out.'
  })
export type CheckoutBody = z.output<typeof checkoutBody>

/** The body of POST /store/prove-email: without a code, one is sent. */
export const emailProofInput = z.strictObject({ email: emailField, code: optionalLine(40) })

export type Codes = { couponCode?: string | undefined; couponCodes?: string[] | undefined }

/** The limit applies to `couponCode` and `couponCodes` together. */
function distinctCodes({ couponCode: code, couponCodes = [] }: Codes): number {
  return new Set(
    [code, ...couponCodes]
      .filter(isText)
      .map(compareKey)
      .filter((key) => key !== '')
  ).size
}

/** Reports a missing field together with the other errors, unless the field already has one. */
function onlyForHandoff(field: 'returnUrl' | 'paymentToken') {
  return {
    path: [field],
    error: 'Is required for token_handoff.',
    when: ({ value, issues }: { value: unknown; issues: readonly { path?: PropertyKey[] | undefined }[] }) =>
      typeof value === 'object' && value !== null && !issues.some((issue) => issue.path?.[0] === field)
  }
}

/** A tracking value. A value that is too long or contains control characters is dropped, so that the sale continues. */
const tracked = (limit: number) =>
  z
    .string()
    .optional()
    .transform((value) => {
      const trimmed = value?.trim() ?? ''
      return trimmed !== '' && codePoints(trimmed) <= limit && !/\p{Cc}/u.test(trimmed) ? trimmed : null
    })

export const checkoutQuery = z.object({
  ref: tracked(100),
  campaign: tracked(100),
  utm_source: tracked(200),
  utm_medium: tracked(200),
  utm_campaign: tracked(200),
  utm_content: tracked(200)
})
export type CheckoutQuery = z.output<typeof checkoutQuery>

/** The affiliate's link that the visitor followed before a registration. */
export const linkQuery = checkoutQuery.pick({ ref: true, campaign: true })

/**
 * Reads an address that a browser will be sent to. Backslashes, control characters and spaces are refused before parsing,
 * because browsers and URL parsers disagree about them. Credentials (`https://shop@evil.example`) and hosts with characters
 * that are not valid in DNS are refused, too. Use the returned URL and never the text: all parsers read the URL's
 * spelling in the same way.
 */
export function readWebAddress(text: string): URL | undefined {
  if (/[\\\s\p{C}]/u.test(text) || !/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const hasCredentials = url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)
  return hasCredentials || !plainHost.test(url.hostname) ? undefined : url
}

/** URL accepts hosts such as `a;frame-ancestors`, which would add a directive to the page's Content-Security-Policy. */
const plainHost = /^[a-z\d._-]+$|^\[[\da-f:.]+\]$/
