import { CronPattern } from 'croner'
import { z } from 'zod'
import { isCurrency } from '../../platform/money.ts'

/** How a setting is shown, checked and explained. `schema` takes the value; its messages say what it takes. */
type Definition<T> = {
  type: 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'limit'
  schema: z.ZodType<T>
  default: T
  about: string
}

/** So many points in so many seconds; null when the bucket is off. */
export type RateLimit = { points: number; seconds: number } | null

const flag = (value: boolean, about: string): Definition<boolean> => ({
  type: 'boolean',
  schema: z.boolean('true or false'),
  default: value,
  about
})

const text = (
  value: string,
  about: string,
  schema: z.ZodType<string> = z.string('text').max(2000, 'at most 2000 characters')
): Definition<string> => ({
  type: 'text',
  schema,
  default: value,
  about
})

function isProductUrl(template: string): boolean {
  const filled = template.replace(/^\{publicUrl\}/, 'https://shop.example').replaceAll('{slug}', 'mug')
  return template.includes('{slug}') && /^https?:\/\/[^\s\p{C}]+$/u.test(filled) && URL.canParse(filled)
}

const integer = (value: number, min: number, max: number, about: string): Definition<number> => ({
  type: 'integer',
  schema: z.int(`a whole number from ${min} to ${max}`).min(min, `at least ${min}`).max(max, `at most ${max}`),
  default: value,
  about
})

const limit = (value: string, about: string): Definition<string> => ({
  type: 'limit',
  schema: z.string().regex(/^(off|[1-9]\d{0,8}\/[1-9]\d{0,7})$/, 'POINTS/SECONDS such as 10/900, or off'),
  default: value,
  about
})

const origins = z.array(
  z
    .string()
    .refine(
      (item) => URL.canParse(item) && /^https?:$/.test(new URL(item).protocol) && new URL(item).origin === item,
      'origins such as https://www.example.com'
    ),
  'a JSON list of origins'
)

export const definitions = {
  'shop.name': text(
    'Shopstead Demo',
    'Name of the shop on pages and in emails',
    z.string('text').trim().min(1, 'at least 1 character').max(100, 'at most 100 characters')
  ),
  'shop.currency': text(
    'EUR',
    'Currency of all prices, as three letters; fixed once an order exists',
    z.string('text').refine(isCurrency, 'a three-letter currency that Stripe knows, such as EUR')
  ),
  'store.productUrl': text(
    '{publicUrl}/products/{slug}',
    "Address of a product's page; {publicUrl} and {slug} are filled in",
    z
      .string('text')
      .max(2000, 'at most 2000 characters')
      .refine(isProductUrl, 'an http or https address with {slug} in it, which may begin with {publicUrl}')
  ),
  'registration.enabled': flag(true, 'Whether people may register'),
  'registration.emailVerification': flag(false, 'Whether a new account must verify its email before it can log in'),
  'registration.passwordMinLength': integer(
    8,
    8,
    64,
    'Shortest password, in characters; NIST asks 15 where there is no second factor'
  ),
  'checkout.enabled': flag(true, 'Whether anything can be bought'),
  'checkout.guest': flag(true, 'Whether people without an account can buy'),
  'checkout.guestEmail': text(
    'optional',
    "Whether a guest's token_handoff needs an email: optional or required",
    z.enum(['optional', 'required'], 'optional or required')
  ),
  'checkout.accountCreation': flag(true, 'Whether a guest can create an account while buying'),
  'checkout.holdMinutes': integer(60, 30, 1440, 'Minutes that an unpaid order keeps its stock and coupons'),
  'checkout.returnOrigins': {
    type: 'list',
    schema: origins,
    default: [] as string[],
    about: 'Origins that returnUrl and cancelUrl may have; empty for any'
  },
  'payments.manualInstructions': text(
    'Please transfer the total to our account and give the order number as the reference. We ship when it has arrived.',
    'What a buyer is told who pays by hand'
  ),
  'affiliates.rate': {
    type: 'number',
    schema: z
      .number('a percentage from 0 to 100')
      .min(0, 'a percentage from 0 to 100')
      .max(100, 'a percentage from 0 to 100')
      .multipleOf(0.01, 'at most two decimals'),
    default: 10,
    about: 'Commission in percent of what an order comes to, for affiliates without a rate of their own'
  },
  'affiliates.cookieDays': integer(30, 1, 400, 'Days that the affiliate tracking cookies live'),
  'affiliates.autoAccept': flag(true, 'Whether the referral of a paid order is accepted at once'),
  'affiliates.renewals': flag(false, 'Whether affiliates earn commission on subscription renewals too'),
  'affiliates.termsGating': flag(false, 'Whether affiliates must accept the current terms before they see referrals'),
  'affiliates.termsVersion': text(
    '',
    'Version of the affiliate terms: a date (2026-01-31) or a semver (1.2.0)',
    z.string('text').max(100, 'at most 100 characters')
  ),
  'affiliates.payoutHoldDays': integer(30, 0, 365, 'Days after acceptance before a referral is paid out'),
  'subscriptions.graceDays': integer(
    7,
    0,
    60,
    'Days that a subscription keeps its access after the paid period, while the gateway retries a failed renewal'
  ),
  'storefront.enabled': flag(false, 'Whether serve shows the demo storefront at /'),
  'backup.schedule': text(
    '',
    'When serve makes backups, as a cron line such as 0 3 * * *; empty for never',
    z
      .string('text')
      .max(100, 'at most 100 characters')
      .refine(isCronLine, 'a cron line such as 0 3 * * * (minute, hour, day, month, weekday), or nothing')
  ),
  'backup.keep': integer(14, 1, 1000, 'How many scheduled backups are kept'),
  'limits.register_ip': limit('300/3600', 'Registrations from one address'),
  'limits.register_email': limit('10/3600', 'Registrations with one email'),
  'limits.login_ip': limit('100/900', 'Failed logins from one address'),
  'limits.login_account': limit('10/900', 'Failed logins by one email or username'),
  'limits.checkout_ip': limit('300/600', 'Checkouts from one address'),
  'limits.checkout_decline': limit('30/3600', 'Declined cards from one address'),
  'limits.coupon_failure': limit('60/3600', 'Coupon codes that do not apply, from one address'),
  'limits.recovery_email': limit('5/3600', 'Recovery messages to one email'),
  'limits.token_ip': limit('60/3600', 'Wrong verification and reset tokens from one address')
} as const satisfies Record<string, Definition<never> | Definition<unknown>>

export type SettingKey = keyof typeof definitions
export type SettingValue<K extends SettingKey> = z.output<(typeof definitions)[K]['schema']>
export type Bucket = { [K in SettingKey]: K extends `limits.${infer B}` ? B : never }[SettingKey]

export const settingKeys = Object.keys(definitions) as SettingKey[]

function isCronLine(line: string): boolean {
  if (line === '') return true
  try {
    return new CronPattern(line) instanceof CronPattern
  } catch {
    // Its messages speak of positions; the setting's own says what it takes.
    return false
  }
}
