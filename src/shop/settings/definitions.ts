import { z } from 'zod'
import { isCurrency } from '../../platform/money.ts'
import { isDay } from '../../platform/days.ts'
import { isCountry } from '../../platform/postal/countries.ts'
import { readVatId } from '../../platform/vat.ts'
import { isCronExpression, isLanguage, isOrigin, isProductUrl, isTimeZone, isTrackingUrl } from './checks.ts'
import { amount, flag, integer, limit, list, pageUrl, rules, text, textList, upTo, webAddress } from './definition.ts'
import type { Definition } from './definition.ts'
import { isAccount, isTaxCode } from './account-keys.ts'
import { creditSources } from './credit-sources.ts'
import { optionalEmails } from './optional-emails.ts'
import { baseOf } from '../../platform/texts/languages.ts'
import { keysOf } from '../../platform/typed.ts'

/** A number of points for a period in seconds; null when the bucket is off. */
export type RateLimit = { points: number; seconds: number } | null

/** Every setting by its key. */
export const definitions = {
  'shop.name': text(
    'Shopstead Demo',
    'The name of the shop, on pages and in emails',
    z.string(rules.name).trim().min(1, rules.name).max(100, rules.name)
  ),
  'shop.currency': text(
    'EUR',
    'The currency of all prices; once there are prices, offers convert changes it, and once there is an order, nothing does',
    z.string(rules.currency).refine(isCurrency, rules.currency)
  ),
  'shop.country': text(
    '',
    'The country of the shop as two letters, whose tax applies when the address of a buyer is unknown; empty for none',
    z.string(rules.country).refine((code) => code === '' || isCountry(code), rules.country)
  ),
  'shop.languages': textList(
    [],
    'The languages that buyers can choose besides storefront.language, such as de, fr: pages, emails and documents follow the buyer',
    (tag) => isLanguage(tag) && baseOf(tag) !== null,
    rules.languages
  ),
  'shop.legal.name': text(
    '',
    'The name of the company or person that sells, on documents and in emails; empty for shop.name',
    upTo(200)
  ),
  'shop.legal.street': text('', 'The street and number of the seller', upTo(200)),
  'shop.legal.postcode': text('', 'The postcode of the seller', upTo(20)),
  'shop.legal.city': text('', 'The city of the seller; the country is shop.country', upTo(100)),
  'shop.legal.vatId': text(
    '',
    'The VAT id of the seller, such as DE123456788',
    upTo(30).refine((id) => id === '' || readVatId(id) !== undefined, rules.vatId)
  ),
  'shop.legal.taxNumber': text('', 'The tax number of the seller, for one without a VAT id', upTo(50)),
  'shop.legal.register': text(
    '',
    'The court and number of the company register, such as HRB 12345, Amtsgericht Hamburg',
    upTo(200)
  ),
  'shop.legal.email': text(
    '',
    'The email address of the seller, on documents; XRechnung needs it',
    z.union([z.literal(''), z.email().max(254)], rules.email)
  ),
  'shop.legal.phone': text('', 'The phone number of the seller, on documents; XRechnung needs it', upTo(50)),
  'shop.legal.bankAccount': text('', 'The bank account of the seller, on documents', upTo(200)),
  'shop.legal': text(
    '',
    'Other lines about the seller on documents and at the end of emails, such as its managing directors'
  ),
  'shop.timeZone': text(
    'UTC',
    'The time zone of all dates: on invoices, in reports and exports, of sales and coupons, in emails and on pages, such as Europe/Berlin',
    z.string(rules.timeZone).refine(isTimeZone, rules.timeZone)
  ),
  'shop.notifyEmail': text(
    '',
    'The address that gets an email about each new order and each payment to look at; empty for none',
    z.union([z.literal(''), z.email().max(254)], rules.email)
  ),
  'shop.returnDays': integer(
    0,
    0,
    365,
    'For how many days buyers may send goods back, as search engines show it; 0 to say nothing'
  ),
  'shop.freeReturns': flag(false, 'Whether the shop pays for sending goods back'),
  'shop.securityContact': text(
    '',
    'The email or https address in /.well-known/security.txt for reports of security problems; empty for no such file',
    z.union([z.literal(''), z.email().max(254), z.url({ protocol: /^https$/ }).max(2000)], rules.securityContact)
  ),
  'store.productUrl': text(
    '{publicUrl}/products/{slug}',
    "The URL of a product's page; {publicUrl} and {slug} are replaced",
    upTo(2000).refine(isProductUrl, 'an http or https URL that contains {slug}; it can start with {publicUrl}')
  ),
  'store.lowStock': integer(5, 0, 1_000_000, 'Buyers see how many units are left when there are this many or fewer'),
  'registration.enabled': flag(true, 'Whether new users can register'),
  'registration.emailVerification': flag(false, 'Whether users must verify their email before they can log in'),
  'registration.passwordMinLength': integer(
    8,
    8,
    64,
    'The minimum length of a password; NIST requires 15 without a second factor'
  ),
  'checkout.enabled': flag(true, 'Whether checkout is possible'),
  'holiday.until': text(
    '',
    'The last day of a holiday, in which buyers cannot order, as YYYY-MM-DD; "shopstead holiday" sets it; empty for none',
    z.string(rules.day).refine((day) => day === '' || isDay(day), rules.day)
  ),
  'holiday.message': text('', 'What pages, API and receipts say during a holiday', upTo(500)),
  'checkout.guest': flag(true, 'Whether guests can check out without an account'),
  'checkout.guestEmail': text(
    'optional',
    'Whether the token_handoff of a guest needs an email: optional or required',
    z.enum(['optional', 'required'], 'optional or required')
  ),
  'checkout.missingAddress': text(
    'refuse',
    'What a token_handoff without a shipping address or method does in a shop with shipping zones: refuse, or ask (it is paid, and the buyer is asked for the address)',
    z.enum(['refuse', 'ask'], 'refuse or ask')
  ),
  'checkout.accountCreation': flag(true, 'Whether guests can create an account during checkout'),
  'checkout.combinePercentCoupons': flag(false, 'Whether an order can have several coupons that take off a percentage'),
  'checkout.holdMinutes': integer(30, 30, 1440, 'For how many minutes an unpaid order holds stock and coupon uses'),
  'checkout.heldOrders': integer(3, 1, 1000, 'Unpaid orders of one buyer; a new one cancels the oldest'),
  'checkout.heldOrdersPerAddress': integer(20, 1, 100_000, 'Unpaid orders from one client address'),
  'checkout.heldStockPercent': integer(
    50,
    1,
    100,
    'The percentage of a stock that guests of one client address can hold in several unpaid orders, at least one piece'
  ),
  'giftCards.validYears': integer(
    0,
    0,
    30,
    'How many years a gift card that the shop sells is valid, until the end of the last one; 0 if it does not expire'
  ),
  'checkout.returnOrigins': textList(
    [],
    'The allowed origins of returnUrl and cancelUrl; empty for the public URL and SHOPSTEAD_ORIGINS (any outside production)',
    isOrigin,
    rules.origins
  ),
  'checkout.shipTo': textList(
    [],
    'The countries that the shop ships to; empty for those of the shipping zones, or for all without zones',
    isCountry,
    rules.countries
  ),
  'law.eu': text(
    'auto',
    'Whether pages follow the EU law of selling to consumers: on, off, or auto (on if shop.country is in the EU)',
    z.enum(['auto', 'on', 'off'], 'auto, on or off')
  ),
  'law.withdrawalDays': integer(
    14,
    14,
    365,
    'For how many days consumers can withdraw from a contract; EU law requires 14'
  ),
  'law.consent': flag(
    false,
    "Whether visitors are asked before the shop stores an affiliate's link in their browser; until then it counts for the same visit"
  ),
  'tax.pricesIncludeTax': flag(true, 'Whether the prices of products and shipping include the tax'),
  'tax.crossBorder': text(
    'destination',
    'Which rates consumers in other member states of the EU pay: destination, or own (those of shop.country, for a shop below the threshold of EUR 10,000 a year)',
    z.enum(['destination', 'own'], 'destination or own')
  ),
  'tax.smallBusiness': flag(
    false,
    'Whether the shop charges no tax, because it is a small business (§ 19 UStG, Directive 2006/112/EC, article 284)'
  ),
  'accounting.chart': text(
    'own',
    'The chart of accounts that DATEV and the journal post to: skr03, skr04, or own (only accounting.accounts)',
    z.enum(['own', 'skr03', 'skr04'], 'own, skr03 or skr04')
  ),
  'accounting.accounts': textList(
    [],
    'Accounts for the journal and its files, besides those of accounting.chart, as KEY=ACCOUNT or KEY=ACCOUNT/TAXKEY, such as domestic-19=8400 or oss-goods=8320/240',
    isAccount,
    rules.accounts
  ),
  'accounting.taxCodes': textList(
    [],
    'What Xero or QuickBooks calls the tax of a sale, as KEY=NAME, such as domestic-20=20% (VAT on Income)',
    isTaxCode,
    rules.taxCodes
  ),
  'accounting.consultant': integer(1001, 1001, 9_999_999, 'The number of the tax adviser at DATEV (Beraternummer)'),
  'accounting.client': integer(1, 1, 99_999, 'The number of the shop at its tax adviser (Mandantennummer)'),
  'accounting.yearStart': text(
    '01-01',
    'The first day of the fiscal year, as MM-DD',
    z.string(rules.yearStart).refine((day) => isDay(`2025-${day}`), rules.yearStart)
  ),
  'tax.vies': text(
    'off',
    'Whether VIES, the register of the EU, must confirm the VAT id of a business that buys without tax: on or off',
    z.enum(['on', 'off'], 'on or off')
  ),
  'tax.viesUnconfirmed': text(
    'charge',
    'What happens while VIES does not answer, or has another name: charge (the tax is charged), or flag (no tax, and a warning in "orders warnings")',
    z.enum(['charge', 'flag'], 'charge or flag')
  ),
  'tax.viesSeconds': integer(5, 1, 20, 'For how many seconds a buyer waits for the answer of VIES'),
  'tax.countryHeader': text(
    '',
    'The header in which a trusted proxy names the country of the client, such as CF-IPCountry, as evidence of where a buyer of downloads is; empty for none',
    z.string(rules.header).regex(/^(?:|[A-Za-z][A-Za-z0-9-]{0,99})$/, rules.header)
  ),
  'payments.manualInstructions': text(
    'Please transfer the total to our bank account, with the order number as the reference. We ship your order when the payment arrives.',
    'The payment instructions for buyers who pay by bank transfer or another manual method'
  ),
  'returns.instructions': text(
    'Please send the goods back to us, with the number of the return.',
    'How and where buyers send goods back, for the email about a return'
  ),
  'payments.manualDays': integer(
    7,
    1,
    60,
    'After how many days an order that waits for a bank transfer is cancelled; the buyer is reminded a day before'
  ),
  'payments.receiptEmail': flag(
    true,
    'Whether Stripe gets the email of the buyer, to send its own receipt of the payment'
  ),
  'payments.statementSuffix': text(
    '',
    'What the card statement shows behind the prefix of your Stripe account, such as {order}; {order} is the order number',
    z.string(rules.suffix).regex(/^(?:|(?=.*(?:[a-z]|\{order\}))(?:[^<>\\'"*{}]|\{order\}){1,22})$/i, rules.suffix)
  ),
  'payments.methodConfiguration': text(
    '',
    'The payment method configuration at Stripe (pmc_…) that decides which methods buyers see; empty for the default one',
    z.string(rules.configuration).regex(/^(?:|pmc_\w{1,100})$/, rules.configuration)
  ),
  'affiliates.rate': {
    type: 'number',
    schema: z
      .number(rules.percentage)
      .min(0, rules.percentage)
      .max(100, rules.percentage)
      .multipleOf(0.01, rules.percentage),
    default: 10,
    about: 'The commission in percent of the order total, for affiliates without their own rate'
  },
  'affiliates.precedence': {
    type: 'list',
    schema: z
      .array(z.enum(creditSources, rules.precedence), rules.precedence)
      .refine(
        (order) => order.length === new Set(order).size && order.length === creditSources.length,
        rules.precedence
      ),
    default: [...creditSources],
    about: 'What credits an affiliate first when an order names several: a coupon of theirs, a link, or the customer'
  },
  'affiliates.click': text(
    'last',
    'Which affiliate has a visitor who followed the links of several: the one of the first or of the last click',
    z.enum(['first', 'last'], 'first or last')
  ),
  'affiliates.customerDays': text(
    'off',
    'For how long a customer who registered by the link of an affiliate stays theirs: off, a number of days, or always',
    z.string(rules.customerDays).regex(/^(?:off|always|[1-9]\d{0,3})$/, rules.customerDays)
  ),
  'affiliates.cookieDays': integer(30, 1, 400, 'For how many days the affiliate tracking cookies are valid'),
  'affiliates.autoAccept': flag(true, 'Whether referrals are accepted automatically when the order is paid'),
  'affiliates.renewals': flag(false, 'Whether affiliates earn commission on subscription renewals too'),
  'affiliates.renewalMonths': integer(
    0,
    0,
    240,
    'For how many months of renewals affiliates earn commission; 0 for as long as the subscription renews'
  ),
  'affiliates.newCustomers': flag(false, 'Whether affiliates earn only on the first paid order of a customer'),
  'affiliates.orderCap': amount('The most that an affiliate earns on one order, in its currency; 0 for no limit'),
  'affiliates.monthCap': amount(
    'The most that an affiliate earns on the orders of a calendar month, in their currency; 0 for no limit'
  ),
  'affiliates.termsGating': flag(false, 'Whether affiliates must accept the current terms to see their referrals'),
  'affiliates.termsVersion': text(
    '',
    'The current version of the affiliate terms: a date (2026-01-31) or a semantic version (1.2.0)',
    upTo(100)
  ),
  'affiliates.minPayout': amount(
    'The least that a payout to an affiliate pays, in the currency of the commissions; less waits for a later one'
  ),
  'reports.imported': flag(false, 'Whether reports include the orders that another shop sold and that moved in'),
  'affiliates.payoutHoldDays': integer(30, 0, 365, 'How many days after its acceptance a referral is due for payout'),
  'subscriptions.graceDays': integer(
    7,
    0,
    60,
    'Days that a subscription keeps its access after the paid period, while the gateway retries a failed renewal'
  ),
  'shipping.trackingUrls': textList(
    [
      'DHL=https://www.dhl.com/en/express/tracking.html?AWB={tracking}',
      'FedEx=https://www.fedex.com/fedextrack/?trknbr={tracking}',
      'UPS=https://www.ups.com/track?tracknum={tracking}',
      'USPS=https://tools.usps.com/go/TrackConfirmAction?tLabels={tracking}'
    ],
    'The page of each carrier that shows where a shipment is, as CARRIER=URL; {tracking} is replaced',
    isTrackingUrl,
    rules.trackingUrls
  ),
  'invoice.prefix': text(
    '',
    'What the numbers of invoices begin with, before the year; credit notes have CN between the two',
    z.string(rules.invoicePrefix).regex(/^(?!.*CN$)[A-Z\d./_-]{0,20}$/i, rules.invoicePrefix)
  ),
  'orders.firstNumber': integer(
    1,
    1,
    1_000_000_000,
    'The number from which new orders count, such as the one after the last order of a former shop; it can only rise'
  ),
  'invoice.firstNumber': integer(
    1,
    1,
    1_000_000_000,
    'The number from which the invoices and credit notes of each year count; it can only rise'
  ),
  'invoice.keepYears': integer(
    10,
    1,
    100,
    'How many years the buyer stays on the invoices of an erased person, counted from the end of the year of issue'
  ),
  'privacy.unpaidDays': integer(
    30,
    1,
    3650,
    'After how many days name, email and addresses are removed from unpaid orders without an account'
  ),
  'privacy.guestYears': integer(
    4,
    0,
    100,
    'After how many years name, email and addresses are removed from paid orders without an account; 0 for never'
  ),
  'privacy.dormantYears': integer(
    3,
    0,
    100,
    'After how many years without use an account is erased, 30 days after an email to its owner; 0 for never'
  ),
  'emails.off': list(
    [],
    'The emails that the shop does not send, by template, for a site that sends its own',
    z.enum(optionalEmails, rules.emails),
    rules.emails
  ),
  'emails.verifyUrl': pageUrl(
    '{publicUrl}/account/verify?token={token}',
    'token',
    'The page that verifies an email, as emails link it; {publicUrl} and {token} are replaced'
  ),
  'emails.resetUrl': pageUrl(
    '{publicUrl}/account/reset?token={token}',
    'token',
    'The page that sets a new password, as emails link it'
  ),
  'emails.newEmailUrl': pageUrl(
    '{publicUrl}/account/email?token={token}',
    'token',
    'The page that confirms a new email, as emails link it'
  ),
  'emails.undoEmailUrl': pageUrl(
    '{publicUrl}/account/email/undo?token={token}',
    'token',
    'The page that undoes a change of the email, as emails link it'
  ),
  'emails.orderUrl': pageUrl(
    '{publicUrl}/checkout/done/{orderToken}',
    'orderToken',
    'The page of an order, as emails link it; {publicUrl} and {orderToken} are replaced'
  ),
  'emails.payUrl': pageUrl(
    '{publicUrl}/checkout/{orderToken}',
    'orderToken',
    'The page on which an order is paid, or paid again after a failed payment, as emails link it'
  ),
  'events.keepDays': integer(90, 31, 3650, 'For how many days events are kept'),
  'storefront.enabled': flag(false, 'Whether "shopstead serve" shows the demo storefront at /'),
  'storefront.tagline': text(
    '',
    'A sentence about the shop on the front page of the storefront, and in search results',
    upTo(300)
  ),
  'storefront.logoUrl': webAddress('The http or https address of the logo on the storefront; empty for none'),
  'storefront.accentColor': text(
    '',
    'The colour of buttons and links on the storefront, such as #2f6f8f; empty for the default',
    z.string(rules.colour).regex(/^(?:|#[0-9a-f]{6})$/i, rules.colour)
  ),
  'storefront.contact': text('', 'How buyers reach the shop, at the end of each page of the storefront', upTo(500)),
  'storefront.termsUrl': webAddress(
    'The http or https address of the terms; empty for the page of "shopstead law init", if there is one'
  ),
  'storefront.withdrawalUrl': webAddress(
    'The http or https address of the information about the right of withdrawal; empty for the page of "shopstead law init", if there is one'
  ),
  'storefront.privacyUrl': webAddress(
    'The http or https address of the privacy policy; empty for the page of "shopstead law init", if there is one'
  ),
  'storefront.imprintUrl': webAddress(
    'The http or https address of the imprint; empty for the page of "shopstead law init", if there is one'
  ),
  'storefront.language': text(
    'en',
    'The language tag of pages, emails and documents, such as de, unless the buyer chose another one (shop.languages)',
    z.string(rules.language).refine(isLanguage, rules.language)
  ),
  'desk.enabled': flag(false, 'Whether people of the shop work at /desk; "shopstead desk enable" sets it'),
  'backup.schedule': text(
    '',
    'The schedule of backups while "shopstead serve" runs: a cron expression such as 0 3 * * *; empty for none',
    upTo(100).refine(
      isCronExpression,
      'a cron expression (minute, hour, day, month, weekday) for a time that comes, such as 0 3 * * *, or empty'
    )
  ),
  'backup.keep': integer(14, 1, 1000, 'How many scheduled backups are kept; older ones are deleted'),
  'limits.register_ip': limit('300/3600', 'Registrations from one client address'),
  'limits.register_email': limit('10/3600', 'Registrations with one email'),
  'limits.login_ip': limit('100/900', 'Failed logins from one client address'),
  'limits.login_account': limit('10/900', 'Failed logins with one email or username'),
  'limits.checkout_ip': limit('300/600', 'Checkouts from one client address'),
  'limits.checkout_decline': limit('30/3600', 'Declined cards from one client address'),
  'limits.coupon_failure': limit('60/3600', 'Coupon codes that are not accepted, from one client address'),
  'limits.recovery_ip': limit('60/3600', 'Requests for password and verification emails per address'),
  'limits.recovery_email': limit('5/3600', 'Password and verification emails to one address'),
  'limits.recipient_email': limit('10/3600', 'Emails to one address that anyone can cause'),
  'limits.token_ip': limit('60/3600', 'Wrong verification and reset tokens from one client address'),
  'limits.code_email': limit('20/3600', 'Wrong codes from an email, for one email'),
  'limits.vat_check_ip': limit('30/3600', 'VAT ids that VIES is asked about, from one client address'),
  'limits.click_ip': limit('60/3600', "Counted clicks on affiliates' links from one client address"),
  'limits.portal_account': limit('30/3600', "Sessions of the gateway's billing portal for one account"),
  'limits.desk_ip': limit(
    '20/900',
    'Passkeys and invitations of the desk that are not accepted, from one client address'
  ),
  'limits.desk_person': limit('1200/3600', 'What one person does at the desk'),
  'limits.account_change': limit('120/3600', 'Changes of one account: profile, password, subscriptions, affiliate')
} as const satisfies Record<string, Definition<never> | Definition<unknown>>

export type SettingKey = keyof typeof definitions
export type SettingValue<K extends SettingKey> = z.output<(typeof definitions)[K]['schema']>
export type Bucket = { [K in SettingKey]: K extends `limits.${infer B}` ? B : never }[SettingKey]

export const settingKeys = keysOf(definitions)
