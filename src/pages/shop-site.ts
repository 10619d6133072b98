import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { currencyDecimals } from '../platform/money.ts'
import { isReady } from '../shop/payments/gateway.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import { mayReverseCharge } from '../shop/tax/terms.ts'
import type { CartChoices, Site, ShownPage } from './storefront/site.ts'
import { textsIn } from './storefront/texts/languages.ts'
import { findIdentity } from '../api/server.ts'
import { rawPath, rawTarget } from '../platform/http/client-address.ts'
import type { PageCall, PageReply } from './page.ts'
import { templateData } from './storefront/site.ts'
import { messagePage } from './page.ts'

/** `dev` decides whether there is a storefront; `serve` uses the setting. */
export function isOpen({ config, db }: App): boolean {
  return config.storefront ?? setting(db, 'storefront.enabled')
}

/** @throws AppError NOT_FOUND while the shop has no storefront */
export function requireOpen(app: App): void {
  if (!isOpen(app)) throw new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** What the settings say about the storefront. */
export function siteOf(app: App): Site {
  const { config, db, publicUrl, cards } = app
  const language = setting(db, 'storefront.language')
  const texts = textsIn(language)
  const { t } = texts
  const links = [
    { label: t('terms'), url: setting(db, 'storefront.termsUrl') },
    { label: t('privacy'), url: setting(db, 'storefront.privacyUrl') },
    { label: t('imprint'), url: setting(db, 'storefront.imprintUrl') }
  ]
  const currency = setting(db, 'shop.currency')
  return {
    name: setting(db, 'shop.name'),
    tagline: setting(db, 'storefront.tagline'),
    logoUrl: setting(db, 'storefront.logoUrl'),
    accentColor: setting(db, 'storefront.accentColor'),
    contact: setting(db, 'storefront.contact'),
    links: links.filter(({ url }) => url !== ''),
    language,
    ...texts,
    currency,
    decimals: currencyDecimals(currency),
    publicUrl: publicUrl(),
    api: config.apiPrefix,
    proxy: '/api/secure',
    hasAffiliates: isModuleOn(db, 'affiliates'),
    isSandbox: cards?.name === 'sandbox',
    minLength: setting(db, 'registration.passwordMinLength'),
    cart: () => cartChoices(app)
  }
}

function cartChoices({ config, db, cards }: App): CartChoices {
  return {
    testCards: cards?.name === 'sandbox' && isReady(cards) ? testCards : [],
    byHand: config.payments.includes('manual'),
    takesVatId: mayReverseCharge(db),
    accounts: setting(db, 'checkout.accountCreation') && setting(db, 'registration.enabled')
  }
}

/** One of Stripe's published test payment methods for each outcome of a payment. */
const testCards = [
  { token: 'pm_card_visa', label: 'Visa ending in 4242: goes through' },
  { token: 'pm_card_authenticationRequired', label: 'Visa ending in 3184: the bank asks first' },
  { token: 'pm_card_chargeDeclined', label: 'Visa ending in 0002: declined' },
  { token: 'pm_card_visa_chargeDeclinedInsufficientFunds', label: 'Visa ending in 9995: not enough money' },
  { token: 'pm_card_chargeDeclinedExpiredCard', label: 'Visa ending in 0069: expired' },
  { token: 'pm_sandbox_code_fraud', label: 'Visa ending in 4954: blocked as fraud' }
] as const

/** The address of the shop's front page: the storefront, else the first site of SHOPSTEAD_ORIGINS; null without both. */
export function shopHome(app: App): string | null {
  if (isOpen(app)) return '/'
  return app.config.origins[0] ?? null
}

/** The link of a page on which nothing else can be done. */
export function homeLinks(app: App): { label: string; url: string }[] {
  const url = shopHome(app)
  return url === null ? [] : [{ label: 'Go to the shop', url }]
}

/**
 * A page that belongs to the service, such as the one of a link in an email, in the layout and the language of the
 * storefront. Without a storefront it has no links to it. It has no script.
 */
export function sitePage(
  { app, request, now }: Pick<PageCall, 'app' | 'request' | 'now'>,
  shown: ShownPage
): PageReply {
  const site = siteOf(app)
  const { status = 200, template, title } = shown
  return {
    status,
    template: `storefront/${template}`,
    title,
    ...(site.logoUrl === '' ? {} : { pictureFrom: site.logoUrl }),
    data: {
      ...templateData(shown, site, rawPath(rawTarget(request))),
      isSignedIn: findIdentity(app, request, now) !== null,
      hasStorefront: isOpen(app)
    }
  }
}

type Words = { title: string; text: string | null }

/** The text is null where the error's own message is meant for the reader of the page. */
const wordsByStatus: Readonly<Record<number, Words>> = {
  401: { title: 'Please log in', text: null },
  403: { title: 'This form was sent from another site', text: null },
  404: { title: 'Page not found', text: 'The address may be mistyped, or the page no longer exists.' },
  405: { title: 'This page does not support that action', text: null },
  410: { title: 'This page is no longer available', text: null },
  413: { title: 'The form is too large', text: 'The form contains more text than this page accepts.' },
  415: { title: 'This page accepts only its own form', text: 'Go back, reload the page, and send its form.' },
  429: { title: 'Too many attempts', text: 'Please wait a few minutes, then try again.' },
  500: { title: 'Something went wrong', text: 'This is a fault on our side. Please try again in a minute.' },
  503: { title: 'The shop is busy', text: 'Please try again in a moment.' }
}

const otherwise: Words = { title: 'Something went wrong', text: null }

/** The page for an error, with a link to the shop. */
export function errorPage(app: App, error: Pick<AppError, 'status' | 'message' | 'headers'>): PageReply {
  const { title, text } = wordsByStatus[error.status] ?? otherwise
  return { ...messagePage(error.status, title, [text ?? error.message], linksOf(app)), headers: error.headers }
}

/** The database may be the reason for the error, and the storefront is a setting in it. */
function linksOf(app: App): ReturnType<typeof homeLinks> {
  try {
    return homeLinks(app)
  } catch {
    return []
  }
}
