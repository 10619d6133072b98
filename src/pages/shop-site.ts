import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { currencyDecimals, toMajor, toMinor } from '../platform/money.ts'
import { cheapestTo, destinations } from '../shop/feeds/shipping-costs.ts'
import { sellsSubscriptions } from '../shop/benefits/records.ts'
import { isReady } from '../shop/payments/gateway.ts'
import { currentHoliday } from '../shop/settings/holiday.ts'
import { languageOf, wordsOf } from '../shop/settings/language.ts'
import { followsEuLaw } from '../shop/settings/law.ts'
import { lawLinks } from '../shop/settings/law-pages.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import { shopTimeZone } from '../shop/settings/shop-days.ts'
import { listTaxRates } from '../shop/tax/rates.ts'
import { mayReverseCharge } from '../shop/tax/terms.ts'
import { languageLinks } from './language-choice.ts'
import type { HtmlReply } from './page.ts'
import { message } from './storefront/form-view.ts'
import { templateData } from './storefront/site.ts'
import type { CartChoices, ShippedUnit, ShownPage, Site } from './storefront/site.ts'
import type { TextKey, Translate } from '../platform/texts/languages.ts'

/** `dev` decides whether there is a storefront; `serve` uses the setting. */
export function isOpen({ config, db }: App): boolean {
  return config.storefront ?? setting(db, 'storefront.enabled')
}

/** @throws AppError NOT_FOUND while the shop has no storefront */
export function requireOpen(app: App): void {
  if (!isOpen(app)) throw new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** The path of the page with the costs of shipping. */
export const shippingPath = '/shipping-costs'

/** The page on which buyers withdraw from a contract, and the one on which they cancel a subscription. */
export const withdrawPath = '/withdraw'
export const cancelPath = '/cancel-contract'

/** What the settings say about the storefront. */
export function siteOf(app: App): Site {
  const { db, publicUrl, cards } = app
  const language = languageOf(app)
  const { lang, textLanguage, t } = wordsOf(app)
  const isEuLaw = followsEuLaw(db)
  const law = lawLinks(app)
  const currency = setting(db, 'shop.currency')
  return {
    name: setting(db, 'shop.name'),
    tagline: setting(db, 'storefront.tagline'),
    logoUrl: setting(db, 'storefront.logoUrl'),
    accentColor: setting(db, 'storefront.accentColor'),
    contact: setting(db, 'storefront.contact'),
    links: [...(isEuLaw ? consumerLinks(app, t) : []), ...law],
    readFirst: law.filter(({ page }) => page !== 'imprint'),
    language,
    timeZone: shopTimeZone(db),
    lang,
    textLanguage,
    t,
    languages: languageLinks(app),
    currency,
    decimals: currencyDecimals(currency),
    publicUrl: publicUrl(),
    proxy: '/api/secure',
    hasAffiliates: isModuleOn(db, 'affiliates'),
    holiday: currentHoliday(db, app.clock.now()),
    isEuLaw,
    asksConsent: setting(db, 'law.consent'),
    pricesIncludeTax: listTaxRates(db).length === 0 ? null : setting(db, 'tax.pricesIncludeTax'),
    shippingUrl: shippingPath,
    isSandbox: cards?.name === 'sandbox',
    minLength: setting(db, 'registration.passwordMinLength'),
    cart: () => cartChoices(app, t),
    returns: returnsOf(app),
    shippingTo: (unit) => shippingTo(app, unit)
  }
}

/** The pages that EU law asks for beside the shop's own texts. */
function consumerLinks({ db }: App, t: Translate): { label: string; url: string }[] {
  return [
    { label: t('shippingCosts'), url: shippingPath },
    { label: t('withdraw.link'), url: withdrawPath },
    ...(sellsSubscriptions(db) ? [{ label: t('cancel.link'), url: cancelPath }] : [])
  ]
}

function returnsOf({ db }: App): Site['returns'] {
  const days = setting(db, 'shop.returnDays')
  const countries = days === 0 ? [] : destinations(db).map(({ country }) => country)
  return countries.length === 0 ? null : { days, isFree: setting(db, 'shop.freeReturns'), countries }
}

function shippingTo({ db }: App, { type, weightGrams, amount }: ShippedUnit): { country: string; amount: number }[] {
  const currency = setting(db, 'shop.currency')
  const goods = { type, quantity: 1, weightGrams, totalMinor: toMinor(amount, currency) }
  return destinations(db).flatMap((each) => {
    const cheapest = cheapestTo(each, goods, currency)
    return cheapest === undefined ? [] : [{ country: each.country, amount: toMajor(cheapest.amountMinor, currency) }]
  })
}

function cartChoices({ config, db, cards }: App, t: Translate): CartChoices {
  return {
    testCards:
      cards?.name === 'sandbox' && isReady(cards)
        ? testCards.map(({ token, label }) => ({ token, label: t(label) }))
        : [],
    byHand: config.payments.includes('manual'),
    takesVatId: mayReverseCharge(db),
    accounts: setting(db, 'checkout.accountCreation') && setting(db, 'registration.enabled')
  }
}

/** One of Stripe's published test payment methods for each outcome of a payment. */
const testCards = [
  { token: 'pm_card_visa', label: 'testCard.visa' },
  { token: 'pm_card_authenticationRequired', label: 'testCard.bank' },
  { token: 'pm_card_chargeDeclined', label: 'testCard.declined' },
  { token: 'pm_card_visa_chargeDeclinedInsufficientFunds', label: 'testCard.funds' },
  { token: 'pm_card_chargeDeclinedExpiredCard', label: 'testCard.expired' },
  { token: 'pm_sandbox_code_fraud', label: 'testCard.fraud' }
] as const satisfies { token: string; label: TextKey }[]

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
