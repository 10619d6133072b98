import { z } from 'zod'
import { codePoints } from '../../platform/text.ts'

/** `null` counts as absent wherever a field is optional. */
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === null ? undefined : value), schema.optional())

const text = (limit: number) =>
  z.string('Takes text.').refine((value) => codePoints(value) <= limit, `Takes at most ${limit} characters.`)

/** An empty or blank optional text counts as not given. */
const optionalText = (limit: number) =>
  optional(
    text(limit)
      .transform((value) => value.trim())
      .transform((value) => (value === '' ? undefined : value))
  )

const id = z.int('Takes a whole number above 0.').positive('Takes a whole number above 0.')

const item = z.strictObject({
  productId: id,
  quantity: z
    .int('Takes a whole number from 1 to 50.')
    .min(1, 'Takes a whole number from 1 to 50.')
    .max(50, 'Takes a whole number from 1 to 50.'),
  variationId: optional(id)
})

const email = optional(
  text(254)
    .transform((value) => value.normalize('NFC').trim())
    .pipe(
      z.union(
        [z.literal(''), z.string().regex(/^[^\s@\p{C}]+@[^\s@\p{C}]+\.[^\s@.\p{C}]+$/u, 'Takes an email address.')],
        'Takes an email address.'
      )
    )
    .transform((value) => (value === '' ? undefined : value))
)

/** The same things by other names: Stripe's, and WooCommerce's snake_case. */
const aliases: Readonly<Record<string, string>> = {
  line1: 'address1',
  line2: 'address2',
  address_1: 'address1',
  address_2: 'address2',
  postalCode: 'postcode',
  postal_code: 'postcode',
  province: 'state',
  first_name: 'firstName',
  last_name: 'lastName',
  company_name: 'companyName',
  create_account: 'createAccount'
}

function renamed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const own = Object.entries(value)
  const named = new Set(own.filter(([, content]) => content !== null).map(([name]) => name))
  return Object.fromEntries(
    own.flatMap(([name, content]) => {
      const target = aliases[name]
      if (target === undefined) return [[name, content]]
      return named.has(target) ? [] : [[target, content]]
    })
  )
}

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const noCountry = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ', 'XK'])

const country = optional(
  z
    .string('Takes a country as two letters, such as DE.')
    .transform((value) => value.trim().toUpperCase())
    .refine((value) => value === '' || isCountry(value), 'Takes a country as two letters, such as DE.')
    .transform((value) => (value === '' ? undefined : value))
)

function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && !noCountry.has(code) && regions.of(code) !== undefined
}

const customer = optional(
  z.preprocess(
    renamed,
    z.object(
      {
        email,
        firstName: optionalText(100),
        lastName: optionalText(100),
        phone: optionalText(40),
        companyName: optionalText(100),
        createAccount: optional(z.boolean('Takes true or false.')),
        password: optional(z.string('Takes text.'))
      },
      'Takes an object.'
    )
  )
)

const address = optional(
  z.preprocess(
    renamed,
    z.object(
      {
        firstName: optionalText(100),
        lastName: optionalText(100),
        company: optionalText(100),
        address1: optionalText(200),
        address2: optionalText(200),
        city: optionalText(200),
        state: optionalText(200),
        postcode: optionalText(40),
        country,
        phone: optionalText(40),
        email
      },
      'Takes an object.'
    )
  )
)

const couponCode = text(64).transform((value) => value.trim())

/** interface.md 4.7 with CONTRACT 5 and A3: unknown names at the top level and in items are refused. */
export const checkoutBody = z
  .strictObject({
    items: z
      .array(item, 'Takes a list of 1 to 30 items.')
      .min(1, 'Takes a list of 1 to 30 items.')
      .max(30, 'Takes a list of 1 to 30 items.'),
    couponCode: optional(couponCode),
    couponCodes: optional(z.array(couponCode, 'Takes a list of codes.').max(10, 'Takes at most 10 codes.')),
    returnUrl: optionalText(2048),
    cancelUrl: optionalText(2048),
    notes: optional(text(2000)),
    paymentToken: optionalText(255),
    customer,
    billingAddress: address,
    shippingAddress: address,
    strategy: optional(z.enum(['redirect_to_store', 'token_handoff'], 'Takes redirect_to_store or token_handoff.'))
  })
  .superRefine((body, context) => {
    if (body.strategy !== 'token_handoff') return
    for (const field of ['returnUrl', 'paymentToken'] as const) {
      if (body[field] === undefined)
        context.addIssue({ code: 'custom', path: [field], message: 'Is required for token_handoff.' })
    }
  })
export type CheckoutBody = z.output<typeof checkoutBody>

/** Longer than it may be, or not a word that can be written down: dropped, not refused. */
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
