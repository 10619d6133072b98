import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { rawPath, rawTarget } from '../../platform/http/node-request.ts'
import { currencyDecimals } from '../../platform/money.ts'
import { isReady } from '../../shop/payments/gateway.ts'
import { countries } from '../country-list.ts'
import { isModuleOn, setting } from '../../shop/settings/settings.ts'
import type { AssetName } from '../assets.ts'
import type { PageCall, PageReply, PageRoute } from '../page.ts'
import { showOffers } from './offers-page.ts'
import { showProduct } from './product-page.ts'
import type { Shown } from './shown.ts'

/**
 * The demo storefront: an example of a site that uses the service. Its pages are the same for every visitor. Their scripts
 * fetch personal data through the first-party proxy.
 */
export const storefrontPages: readonly PageRoute[] = [
  page('/', /^\/$/, 'offers', showOffers),
  page('/products/:slug', /^\/products\/([a-z0-9-]{1,200})$/, 'product', showProduct),
  page('/cart', /^\/cart$/, 'cart', ({ app }) => ({ template: 'cart', title: 'Your cart', data: checkoutFacts(app) })),
  page('/thanks', /^\/thanks$/, 'thanks', ({ request }) => ({
    template: 'thanks',
    title: 'Your order',
    data: { orderPage: orderPageOf(request) }
  })),
  page('/login', /^\/login$/, 'login', () => ({ template: 'login', title: 'Log in' })),
  page('/register', /^\/register$/, 'register', ({ app }) => ({
    template: 'register',
    title: 'Create an account',
    data: { minLength: setting(app.db, 'registration.passwordMinLength') }
  })),
  page('/forgot-password', /^\/forgot-password$/, 'forgot', () => ({
    template: 'forgot',
    title: 'Forgot your password?'
  })),
  page('/account', /^\/account$/, 'account', () => ({ template: 'blank', title: 'My account' })),
  page('/orders', /^\/orders$/, 'orders', () => ({ template: 'blank', title: 'My orders' })),
  page('/orders/:id', /^\/orders\/([1-9]\d{0,14})$/, 'order', ({ param }) => ({
    template: 'blank',
    title: `Order ${param}`
  })),
  page('/referrals', /^\/referrals$/, 'referrals', () => ({ template: 'blank', title: 'My referrals' }))
]

function page(name: string, path: RegExp, script: AssetName, show: (call: PageCall) => Shown): PageRoute {
  const handle = (call: PageCall): PageReply => {
    if (!isOpen(call.app)) throw new AppError('NOT_FOUND', 'There is nothing at this address.')
    const { status = 200, template, title, data = {} } = show(call)
    const common = { ...siteFacts(call.app), path: rawPath(rawTarget(call.request)), search: '', category: '' }
    return { status, template: `storefront/${template}`, title, script, data: { ...common, ...data } }
  }
  return { method: 'GET', path, name, handle }
}

/** `dev` decides whether there is a storefront; `serve` uses the setting. */
export function isOpen({ config, db }: App): boolean {
  return config.storefront ?? setting(db, 'storefront.enabled')
}

/** The data about the service that every page passes to its script. */
function siteFacts({ config, db, publicUrl }: App): object {
  const currency = setting(db, 'shop.currency')
  return {
    api: config.apiPrefix,
    proxy: '/api/secure',
    publicUrl: publicUrl(),
    decimals: currencyDecimals(currency),
    hasAffiliates: isModuleOn(db, 'affiliates')
  }
}

/** The page of the order that a buyer comes back with, which needs no script; null without an order. */
function orderPageOf(request: Request): string | null {
  const target = rawTarget(request)
  const token = new URLSearchParams(target.slice(rawPath(target).length)).get('orderToken') ?? ''
  return /^[\w-]{1,100}$/.test(token) ? `/checkout/done/${token}` : null
}

function checkoutFacts({ config, db, cards }: App): object {
  return {
    countries: countries(db),
    testCards: cards?.name === 'sandbox' && isReady(cards) ? testCards : [],
    byHand: config.payments.includes('manual'),
    accounts: setting(db, 'checkout.accountCreation') && setting(db, 'registration.enabled'),
    minLength: setting(db, 'registration.passwordMinLength')
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
