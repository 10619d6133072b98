import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { currencyDecimals } from '../platform/money.ts'
import { isReady } from '../shop/payments/gateway.ts'
import { isModuleOn, setting } from '../shop/settings/settings.ts'
import { mayReverseCharge } from '../shop/tax/terms.ts'
import type { CartChoices, Site } from './storefront/site.ts'
import { textsIn } from './storefront/texts/languages.ts'

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
