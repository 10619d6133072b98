import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { currencyDecimals } from '../platform/money.ts'
import { isReady } from '../shop/payments/gateway.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import { mayReverseCharge } from '../shop/tax/terms.ts'
import type { HtmlReply } from './page.ts'
import { message } from './storefront/form-view.ts'
import { templateData } from './storefront/site.ts'
import type { CartChoices, ShownPage, Site } from './storefront/site.ts'
import { textsIn } from './storefront/texts/languages.ts'
import type { TextKey } from './storefront/texts/languages.ts'

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
  const { db, publicUrl, cards } = app
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
  return url === null ? [] : [{ label: siteOf(app).t('link.shop'), url }]
}

/** How the layout frames a page. Pages of the hosted checkout have no navigation, so that nothing leads away from paying. */
type Frame = { hasNav?: boolean; path?: string; isSignedIn?: boolean }

/** A page in the layout and the language of the shop. */
export function shopPage(app: App, shown: ShownPage, frame: Frame = {}, site: Site = siteOf(app)): HtmlReply {
  const { hasNav = false, path = '', ...others } = frame
  const { status = 200, template, title } = shown
  return {
    status,
    template,
    title,
    ...(site.logoUrl === '' ? {} : { pictureFrom: site.logoUrl }),
    data: { ...templateData(shown, site, path), hasNav, ...others }
  }
}

/** The title and the text by the status of an error. The text is null where the error's own message is meant for the reader. */
const wordsByStatus: Readonly<Record<number, readonly [TextKey, TextKey | null]>> = {
  401: ['error.login', null],
  403: ['error.otherSite', null],
  404: ['missing', 'missingText'],
  405: ['error.method', null],
  410: ['error.gone', null],
  413: ['error.tooLarge', 'error.tooLargeText'],
  415: ['error.ownForm', 'error.ownFormText'],
  429: ['error.tooOften', 'error.tooOftenText'],
  500: ['page.failed', 'error.failedText'],
  503: ['error.busy', 'error.busyText']
}

/** The page for an error, with a link to the shop. */
export function errorPage(app: App, error: Pick<AppError, 'status' | 'message' | 'headers'>): HtmlReply {
  const { t } = siteOf(app)
  const [title, text] = wordsByStatus[error.status] ?? ['page.failed', null]
  const words = text === null ? error.message : t(text)
  return { ...shopPage(app, message(t(title), words, homeLinks(app), error.status)), headers: error.headers }
}

/** The page for an order or another change on a machine that only follows. */
export function readOnlyPage(app: App, { status, message: text, headers }: AppError): HtmlReply {
  return { ...shopPage(app, message(siteOf(app).t('error.readOnly'), text, [], status)), headers }
}
