import type {
  Address,
  Affiliate,
  AffiliateStats,
  BuyerOrder,
  Category,
  CheckoutHandoff,
  CheckoutRedirect,
  Download,
  GuestSubscription,
  Me,
  OwnOrder,
  OwnSubscription,
  PaymentConfig,
  Product,
  Quote
} from './api-types.ts'
import type { Body, Data, Query, RequestOptions, Requests } from './requests.ts'
import { rememberPayment, resultOf, takeOrderToken } from './payments.ts'
import type { PageAddress, PaymentResult } from './payments.ts'
import { setConsent, storedTracking, storeLanding, storedConsent } from './tracking.ts'
import type { SentClick, Tracking } from './tracking.ts'

type AnyCheckoutBody = Body<'POST', '/store/checkout-session'>
/** How a checkout is paid: on the shop's page, or by a token of the site's own payment form. */
export type Strategy = NonNullable<AnyCheckoutBody['strategy']>
/** The body of a checkout with a strategy. */
export type CheckoutBody<S = Strategy | null> = Omit<AnyCheckoutBody, 'strategy'> & { strategy?: S }
/** What a checkout answers, by its strategy. */
export type CheckoutResult<S> = [S] extends ['token_handoff']
  ? CheckoutHandoff
  : 'token_handoff' extends S
    ? CheckoutRedirect | CheckoutHandoff
    : CheckoutRedirect

/** What can be done with an order. */
type OrderOptions = { canPay: boolean; payUrl: string | null; canCancel: boolean; addressUrl: string | null }
type OrderByToken = { order: BuyerOrder; subscription: GuestSubscription | null } & OrderOptions
type Options = Omit<RequestOptions, 'query' | 'idempotencyKey'>

/** The operations that most sites need, by name. */
export type NamedMethods = {
  /** The user who is logged in. @throws ShopError NOT_AUTHENTICATED */
  me(options?: Options): Promise<Me>
  updateMe(body: Body<'PATCH', '/me'>): Promise<Me>
  /** Creates an account, for the affiliate whose link the visitor followed (captureLanding) unless the options have a query. */
  register(
    body: Body<'POST', '/auth/register'>,
    options?: RequestOptions<Query<'POST', '/auth/register'>>
  ): Promise<Data<'POST', '/auth/register'>>
  login(body: Body<'POST', '/auth/login'>): Promise<Data<'POST', '/auth/login'>>
  logout(): Promise<void>
  forgotPassword(email: string): Promise<void>
  resetPassword(body: Body<'POST', '/auth/reset-password'>): Promise<void>
  verifyEmail(token: string): Promise<void>
  products: {
    list(query?: Query<'GET', '/store/products'>, options?: Options): Promise<Data<'GET', '/store/products'>>
    /** A product by its slug. @throws ShopError NOT_FOUND */
    get(slug: string, options?: Options): Promise<Product>
  }
  categories: { list(options?: Options): Promise<Category[]> }
  redirects: {
    /** Where an address that the site does not know leads now, for a 301; null if it leads nowhere. */
    find(path: string, options?: Options): Promise<string | null>
  }
  /** The prices and problems of a cart. */
  quote(body: Body<'POST', '/store/quote'>, options?: Options): Promise<Quote>
  /**
   * Places an order and starts its payment, with the tracking of the visitor's landing (captureLanding) unless the options
   * have a query. Repeats a request whose answer was lost, and charges at most once.
   */
  checkout<S extends Strategy | null = 'redirect_to_store'>(
    body: CheckoutBody<S>,
    options?: RequestOptions<Tracking>
  ): Promise<CheckoutResult<S>>
  /** The ways to pay, and what a payment form on the site's own page needs (createPaymentForm). */
  paymentConfig(options?: Options): Promise<PaymentConfig>
  orders: {
    list(query?: Query<'GET', '/orders'>, options?: Options): Promise<Data<'GET', '/orders'>>
    get(id: number, options?: Options): Promise<{ order: OwnOrder } & OrderOptions>
    /** An order by the token of its link, without a session. */
    byToken(orderToken: string, options?: Options): Promise<OrderByToken>
    cancel(orderToken: string): Promise<OrderByToken>
  }
  payments: {
    /**
     * The order of a buyer who comes back to the site's `returnUrl`, with its state from the gateway itself: call it with
     * `location` on that page. It reads what the shop and Stripe have added to the address once, and removes it. With
     * token_handoff, the browser that sent the checkout knows the order; another one needs the token in the address.
     *
     * @throws ShopError NOT_FOUND for an address that names no order
     */
    finish(
      location: PageAddress,
      options?: Options
    ): Promise<OrderByToken & { orderToken: string; result: PaymentResult }>
  }
  subscriptions: {
    list(options?: Options): Promise<OwnSubscription[]>
    /** Ends a subscription with its paid period. */
    cancel(id: number): Promise<OwnSubscription>
  }
  downloads: { list(options?: Options): Promise<Download[]> }
  address: {
    get(options?: Options): Promise<Address | null>
    set(address: Body<'POST', '/me/address'>['address']): Promise<Address | null>
  }
  affiliate: {
    me(options?: Options): Promise<Data<'GET', '/affiliates/me'>>
    stats(query?: Query<'GET', '/affiliates/stats'>, options?: Options): Promise<AffiliateStats>
    referrals(
      query?: Query<'GET', '/affiliates/referrals'>,
      options?: Options
    ): Promise<Data<'GET', '/affiliates/referrals'>>
    /** The payouts with their statements, newest first. */
    payouts(query?: Query<'GET', '/affiliates/payouts'>, options?: Options): Promise<Data<'GET', '/affiliates/payouts'>>
    /** The affiliate's link to a page of the shop. */
    link(query?: Query<'GET', '/affiliates/link'>, options?: Options): Promise<string>
    apply(body: Body<'POST', '/affiliates/apply'>): Promise<Affiliate>
    acceptTerms(version: string): Promise<Affiliate>
  }
  /**
   * Stores `ref`, `campaign` and the utm parameters of the page's address for the checkout, and counts the click of an
   * affiliate's link. Call it on each page. A ref replaces another only if it would count. Does nothing outside a browser.
   * With `asksConsent` it stores and counts nothing before `setTrackingConsent(true)`. Until then the values stay in the
   * addresses of this visit, and a checkout sends them from there.
   */
  captureLanding(options?: { asksConsent?: boolean }): void
  /**
   * Remembers for 180 days whether the visitor agrees that this site stores where they came from. `true` stores the landing
   * of this visit; `false` deletes what was stored.
   */
  setTrackingConsent(isGiven: boolean): void
  /** What the visitor answered; null before. */
  trackingConsent(): boolean | null
  /** The query that a checkout of this browser sends, for a site that sends the checkout from its server. */
  tracking(): Tracking
}

/** The affiliate's link that the visitor followed. */
function storedLink(): Query<'POST', '/auth/register'> {
  const { ref, campaign } = storedTracking()
  return { ...(ref === undefined ? {} : { ref }), ...(ref === undefined || campaign === undefined ? {} : { campaign }) }
}

/** The named operations over requests by path. */
export function namedMethods({ get, post, patch }: Requests): NamedMethods {
  const sendClick = async (click: SentClick) => (await post('/affiliates/clicks', click)).trackingDays
  return {
    me: (options) => get('/me', options),
    updateMe: (body) => patch('/me', body),
    register: (body, { query = storedLink(), ...options } = {}) => post('/auth/register', body, { ...options, query }),
    login: (body) => post('/auth/login', body),
    logout: async () => void (await post('/auth/logout')),
    forgotPassword: async (email) => void (await post('/auth/forgot-password', { email })),
    resetPassword: async (body) => void (await post('/auth/reset-password', body)),
    verifyEmail: async (token) => void (await post('/auth/verify-email', { token })),
    products: {
      list: (query, options) => get('/store/products', { ...options, query }),
      get: async (slug, options) => (await get(`/store/products/${encodeURIComponent(slug)}`, options)).product
    },
    categories: { list: async (options) => (await get('/store/categories', options)).categories },
    redirects: { find: async (path, options) => (await get('/store/redirects', { ...options, query: { path } })).to },
    quote: (body, options) => post('/store/quote', body, options),
    checkout: async (body, { query = storedTracking(), ...options } = {}) => {
      const answer = await post('/store/checkout-session', body, { ...options, query })
      rememberPayment(answer)
      return answer as never
    },
    paymentConfig: (options) => get('/store/payment-config', options),
    orders: {
      list: (query = {}, options = {}) => get('/orders', { ...options, query }),
      get: (id, options) => get(`/orders/${id}`, options),
      byToken: (orderToken, options) => get(`/store/orders/${orderToken}`, options),
      cancel: (orderToken) => post(`/store/orders/${orderToken}/cancel`)
    },
    payments: {
      finish: async (location, options) => {
        const orderToken = takeOrderToken(location)
        const answer = await get(`/store/orders/${orderToken}`, options)
        return { ...answer, orderToken, result: resultOf(answer.order.status) }
      }
    },
    subscriptions: {
      list: async (options) => (await get('/me/subscriptions', options)).subscriptions,
      cancel: async (id) => (await post(`/me/subscriptions/${id}/cancel`)).subscription
    },
    downloads: { list: async (options) => (await get('/me/downloads', options)).downloads },
    address: {
      get: async (options) => (await get('/me/address', options)).address,
      set: async (address) => (await post('/me/address', { address })).address
    },
    affiliate: {
      me: (options) => get('/affiliates/me', options),
      stats: (query, options) => get('/affiliates/stats', { ...options, query }),
      referrals: (query, options) => get('/affiliates/referrals', { ...options, query }),
      payouts: (query, options) => get('/affiliates/payouts', { ...options, query }),
      link: async (query, options) => (await get('/affiliates/link', { ...options, query })).url,
      apply: async (body) => (await post('/affiliates/apply', body)).affiliate,
      acceptTerms: async (version) => (await post('/affiliates/terms', { version })).affiliate
    },
    captureLanding: (options = {}) => storeLanding(sendClick, options),
    setTrackingConsent: (isGiven) => setConsent(isGiven, sendClick),
    trackingConsent: storedConsent,
    tracking: storedTracking
  }
}
