// Written by "npm run client:generate" from the API description; a test fails when it is outdated.

/** The request and response of each operation, by method and path. */
export type Operations = {
  'GET /nonce': {
    query: undefined
    body: undefined
    answer: { data: Nonce; meta: Meta }
  }
  'POST /auth/register': {
    query: undefined
    body: {
      email: string
      password: string
      displayName: string
      acceptTerms: true
      firstName?: string | null
      lastName?: string | null
      marketingOptIn?: boolean | null
      termsAcceptedAt?: string | null
      privacyAcceptedAt?: string | null
    }
    answer:
      | {
          data: StartedSession
          meta: {
            correlationId: string | null
            correlation_id: string | null
            request_id: string | null
            timestamp: string
            nextStep: 'NONE'
          }
        }
      | {
          data: PendingRegistration
          meta: {
            correlationId: string | null
            correlation_id: string | null
            request_id: string | null
            timestamp: string
            nextStep: 'VERIFY_EMAIL'
            expiresAt: string
          }
        }
  }
  'POST /auth/login': {
    query: undefined
    body: { username?: string | null; email?: string | null; password: string; rememberMe?: boolean | null }
    answer: { data: StartedSession; meta: Meta }
  }
  'POST /auth/logout': {
    query: undefined
    body: undefined
    answer: { data: { loggedOut: true }; meta: Meta }
  }
  'GET /me': {
    query: undefined
    body: undefined
    answer: { data: Me; meta: Meta }
  }
  'PATCH /me': {
    query: undefined
    body: {
      displayName?: string
      firstName?: string | null
      lastName?: string | null
      billingEmail?: string | null
      billingPhone?: string | null
      companyName?: string | null
      marketingOptIn?: boolean | null
    }
    answer: { data: Me; meta: Meta }
  }
  'POST /auth/verify-email': {
    query: undefined
    body: { token: string }
    answer: { data: { verified: true }; meta: Meta }
  }
  'POST /auth/resend-verification': {
    query: undefined
    body: { email: string }
    answer: { data: { accepted: true }; meta: Meta }
  }
  'POST /auth/forgot-password': {
    query: undefined
    body: { email: string }
    answer: { data: { accepted: true }; meta: Meta }
  }
  'POST /auth/reset-password': {
    query: undefined
    body: { token: string; password: string }
    answer: { data: { reset: true }; meta: Meta }
  }
  'POST /auth/change-password': {
    query: undefined
    body: { currentPassword: string; newPassword: string }
    answer: { data: { changed: true }; meta: Meta }
  }
  'POST /auth/change-email': {
    query: undefined
    body: { email: string; password: string }
    answer: { data: { accepted: true }; meta: Meta }
  }
  'POST /auth/confirm-email': {
    query: undefined
    body: { token: string }
    answer: { data: { changed: true }; meta: Meta }
  }
  'POST /me/delete': {
    query: undefined
    body: { password: string }
    answer: { data: { deleted: true }; meta: Meta }
  }
  'GET /me/email-change': {
    query: undefined
    body: undefined
    answer: { data: { pending: { email: string; expiresAt: string } | null }; meta: Meta }
  }
  'POST /me/email-change/resend': {
    query: undefined
    body: undefined
    answer: { data: { accepted: true }; meta: Meta }
  }
  'POST /me/email-change/withdraw': {
    query: undefined
    body: undefined
    answer: { data: { withdrawn: true }; meta: Meta }
  }
  'GET /me/address': {
    query: undefined
    body: undefined
    answer: { data: { address: Address | null }; meta: Meta }
  }
  'POST /me/address': {
    query: undefined
    body: {
      address: {
        address1?: string | null
        address2?: string | null
        city?: string | null
        state?: string | null
        postcode?: string | null
        country?: string | null
      } | null
    }
    answer: { data: { address: Address | null }; meta: Meta }
  }
  'GET /orders': {
    query: { page?: number | undefined; perPage?: number | undefined }
    body: undefined
    answer: { data: { orders: Order[]; pagination: Pagination }; meta: Meta }
  }
  [operation: `GET /orders/${number}`]: {
    query: undefined
    body: undefined
    answer: { data: { order: OwnOrder; canPay: boolean; payUrl: string | null; canCancel: boolean }; meta: Meta }
  }
  'GET /me/subscriptions': {
    query: undefined
    body: undefined
    answer: { data: { subscriptions: OwnSubscription[] }; meta: Meta }
  }
  [operation: `POST /me/subscriptions/${number}/cancel`]: {
    query: undefined
    body: undefined
    answer: { data: { subscription: OwnSubscription }; meta: Meta }
  }
  [operation: `POST /me/subscriptions/${number}/portal`]: {
    query: undefined
    body: undefined
    answer: { data: { url: string }; meta: Meta }
  }
  'GET /store/offers': {
    query: {
      page?: number | undefined
      perPage?: number | undefined
      category?: string | undefined
      search?: string | undefined
    }
    body: undefined
    answer: { data: { offers: Offer[]; pagination: Pagination }; meta: { [name: string]: never } }
  }
  'GET /store/products': {
    query: {
      page?: number | undefined
      perPage?: number | undefined
      category?: string | undefined
      search?: string | undefined
      available?: 'true' | undefined
      sort?: 'position' | 'newest' | 'price' | '-price' | 'name' | undefined
    }
    body: undefined
    answer: { data: { products: Card[]; pagination: Pagination }; meta: { [name: string]: never } }
  }
  [operation: `GET /store/products/${string}`]: {
    query: undefined
    body: undefined
    answer: { data: { product: Product }; meta: { [name: string]: never } }
  }
  'GET /store/categories': {
    query: undefined
    body: undefined
    answer: { data: { categories: Category[] }; meta: { [name: string]: never } }
  }
  'POST /store/quote': {
    query: undefined
    body: {
      items: { productId: number; quantity: number; variationId?: number | null }[]
      couponCode?: string | null
      couponCodes?: string[] | null
      customer?: {
        email?: string | null
        firstName?: string | null
        lastName?: string | null
        phone?: string | null
        companyName?: string | null
        vatId?: string | null
        createAccount?: boolean | null
        password?: string | null
        first_name?: string | null
        last_name?: string | null
        company_name?: string | null
        vat_id?: string | null
        create_account?: boolean | null
      } | null
      billingAddress?: {
        firstName?: string | null
        lastName?: string | null
        company?: string | null
        address1?: string | null
        address2?: string | null
        city?: string | null
        state?: string | null
        postcode?: string | null
        country?: string | null
        phone?: string | null
        email?: string | null
        first_name?: string | null
        last_name?: string | null
        line1?: string | null
        address_1?: string | null
        line2?: string | null
        address_2?: string | null
        province?: string | null
        postalCode?: string | null
        postal_code?: string | null
      } | null
      shippingAddress?: {
        firstName?: string | null
        lastName?: string | null
        company?: string | null
        address1?: string | null
        address2?: string | null
        city?: string | null
        state?: string | null
        postcode?: string | null
        country?: string | null
        phone?: string | null
        email?: string | null
        first_name?: string | null
        last_name?: string | null
        line1?: string | null
        address_1?: string | null
        line2?: string | null
        address_2?: string | null
        province?: string | null
        postalCode?: string | null
        postal_code?: string | null
      } | null
      shippingMethod?: string | null
      subscribeAgain?: boolean | null
      strategy?: 'redirect_to_store' | 'token_handoff' | null
    }
    answer: { data: Quote; meta: Meta }
  }
  'POST /store/checkout-session': {
    query: {
      ref?: string | undefined
      campaign?: string | undefined
      utm_source?: string | undefined
      utm_medium?: string | undefined
      utm_campaign?: string | undefined
      utm_content?: string | undefined
    }
    body: {
      items: { productId: number; quantity: number; variationId?: number | null }[]
      couponCode?: string | null
      couponCodes?: string[] | null
      customer?: {
        email?: string | null
        firstName?: string | null
        lastName?: string | null
        phone?: string | null
        companyName?: string | null
        vatId?: string | null
        createAccount?: boolean | null
        password?: string | null
        first_name?: string | null
        last_name?: string | null
        company_name?: string | null
        vat_id?: string | null
        create_account?: boolean | null
      } | null
      billingAddress?: {
        firstName?: string | null
        lastName?: string | null
        company?: string | null
        address1?: string | null
        address2?: string | null
        city?: string | null
        state?: string | null
        postcode?: string | null
        country?: string | null
        phone?: string | null
        email?: string | null
        first_name?: string | null
        last_name?: string | null
        line1?: string | null
        address_1?: string | null
        line2?: string | null
        address_2?: string | null
        province?: string | null
        postalCode?: string | null
        postal_code?: string | null
      } | null
      shippingAddress?: {
        firstName?: string | null
        lastName?: string | null
        company?: string | null
        address1?: string | null
        address2?: string | null
        city?: string | null
        state?: string | null
        postcode?: string | null
        country?: string | null
        phone?: string | null
        email?: string | null
        first_name?: string | null
        last_name?: string | null
        line1?: string | null
        address_1?: string | null
        line2?: string | null
        address_2?: string | null
        province?: string | null
        postalCode?: string | null
        postal_code?: string | null
      } | null
      shippingMethod?: string | null
      subscribeAgain?: boolean | null
      strategy?: 'redirect_to_store' | 'token_handoff' | null
      returnUrl?: string | null
      cancelUrl?: string | null
      notes?: string | null
      paymentToken?: string | null
    }
    answer: { data: CheckoutRedirect | CheckoutHandoff; meta: Meta }
  }
  [operation: `GET /store/orders/${string}`]: {
    query: undefined
    body: undefined
    answer: {
      data: {
        order: BuyerOrder
        canPay: boolean
        payUrl: string | null
        canCancel: boolean
        subscription: GuestSubscription | null
      }
      meta: Meta
    }
  }
  [operation: `POST /store/orders/${string}/cancel`]: {
    query: undefined
    body: undefined
    answer: {
      data: {
        order: BuyerOrder
        canPay: boolean
        payUrl: string | null
        canCancel: boolean
        subscription: GuestSubscription | null
      }
      meta: Meta
    }
  }
  [operation: `POST /store/orders/${string}/end-subscription`]: {
    query: undefined
    body: undefined
    answer: {
      data: {
        order: BuyerOrder
        canPay: boolean
        payUrl: string | null
        canCancel: boolean
        subscription: GuestSubscription | null
      }
      meta: Meta
    }
  }
  'GET /affiliates/referrals': {
    query: { limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: { data: { referrals: Referral[]; nextCursor: string | null } }
  }
  'GET /affiliates/me': {
    query: undefined
    body: undefined
    answer: { data: { affiliate: Affiliate; balance: AffiliateBalance }; meta: Meta }
  }
  'GET /affiliates/stats': {
    query: { days?: number | undefined }
    body: undefined
    answer: { data: AffiliateStats; meta: Meta }
  }
  'POST /affiliates/clicks': {
    query: undefined
    body: { ref: string }
    answer: { data: { accepted: true }; meta: Meta }
  }
  'POST /affiliates/apply': {
    query: undefined
    body: { website?: string | null; message?: string | null; marketingOptIn?: boolean | null }
    answer: { data: { affiliate: Affiliate }; meta: Meta }
  }
  'POST /affiliates/terms': {
    query: undefined
    body: { version: string }
    answer: { data: { affiliate: Affiliate }; meta: Meta }
  }
  'GET /me/downloads': {
    query: undefined
    body: undefined
    answer: { data: { downloads: Download[] }; meta: Meta }
  }
  'GET /health': {
    query: undefined
    body: undefined
    answer: { data: Health; meta: Meta }
  }
  'POST /webhooks/stripe': {
    query: undefined
    body: undefined
    answer: { data: { received: true }; meta: Meta }
  }
}

/** The details of each error code. */
export type ErrorDetails = {
  AFFILIATE_EXISTS: { [name: string]: never }
  AFFILIATE_NOT_ACTIVE: { [name: string]: never }
  AFFILIATE_NOT_FOUND: { [name: string]: never }
  AFFILIATE_TERMS_REQUIRED: { requiredVersion: string; acceptedVersion: string | null }
  AUTH_ACCOUNT_DEACTIVATED: { [name: string]: never }
  AUTH_EMAIL_NOT_VERIFIED: { [name: string]: never }
  AUTH_INVALID_CREDENTIALS: { [name: string]: never }
  AUTH_RATE_LIMITED: { bucket: string }
  AUTH_REGISTRATION_DISABLED: { [name: string]: never }
  AUTH_REGISTRATION_FAILED: { [name: string]: never }
  CHECKOUT_DISABLED: { [name: string]: never }
  CHECKOUT_FAILED: {
    safeReason: string
    phase: string
    step: 'create_intent' | 'confirm_intent'
    gatewayError: { type: string; code?: string; decline_code: string | null; param: string; message: string }
    gatewayRequestId: string
  }
  CHECKOUT_GATEWAY_NOT_CONFIGURED: { [name: string]: never }
  CHECKOUT_NOT_IMPLEMENTED: { [name: string]: never }
  CONFIG_INVALID_AFFILIATE_TERMS_VERSION: { [name: string]: never }
  CONFLICT: { [name: string]: never }
  CSRF_FAILED: { reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site' }
  DEPENDENCY_UNAVAILABLE: { reason?: string }
  IDEMPOTENCY_KEY_REUSE_CONFLICT: { reason: 'payload_mismatch' | 'in_progress' }
  INTERNAL_SERVER_ERROR: { [name: string]: never }
  METHOD_NOT_ALLOWED: { [name: string]: never }
  NOT_AUTHENTICATED: { [name: string]: never }
  NOT_FOUND: { [name: string]: never }
  PASSWORD_POLICY_VIOLATION: {
    reason: 'password_policy'
    rules: ('min_length' | 'max_length' | 'well_formed' | 'common' | 'personal')[]
  }
  PAYLOAD_TOO_LARGE: { limitBytes: number }
  RATE_LIMITED: { bucket: string }
  TOKEN_INVALID: { [name: string]: never }
  UNSUPPORTED_MEDIA_TYPE: { [name: string]: never }
  UPSTREAM_UNAVAILABLE: { [name: string]: never }
  VALIDATION_FAILED: { fieldErrors: { [name: string]: string[] }; problems?: CartProblem[] }
  WEBHOOK_SIGNATURE_INVALID: { [name: string]: never }
}

/** The data of each event that the shop sends to webhooks. */
export type WebhookData = {
  'account.registered': { userId: number; customer?: EventCustomer | null }
  'account.verified': { userId: number; customer?: EventCustomer | null }
  'account.deactivated': { userId: number; customer?: EventCustomer | null }
  'order.created': {
    orderId: number
    totalMinor: number
    currency: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.paid': {
    orderId: number
    totalMinor: number
    currency: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.status_changed': {
    orderId: number
    from: string
    to: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.refunded': {
    orderId: number
    amountMinor: number
    currency: string
    full: boolean
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.refund_failed': {
    orderId: number
    amountMinor: number
    currency: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.shipped': {
    orderId: number
    shipmentId: number
    carrier: string | null
    tracking: string | null
    complete: boolean
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'order.disputed': {
    orderId: number
    disputeId: string
    status: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
  'referral.created': {
    referralId: number
    affiliateId: number
    orderId: number
    amountMinor: number
    currency: string
  }
  'referral.accepted': {
    referralId: number
    affiliateId: number
    orderId: number
    amountMinor: number
    currency: string
  }
  'referral.rejected': {
    referralId: number
    affiliateId: number
    orderId: number
    amountMinor: number
    currency: string
    reason: string
  }
  'referral.paid': {
    referralId: number
    affiliateId: number
    orderId: number
    amountMinor: number
    currency: string
    payoutId: number
  }
  'affiliate.applied': { affiliateId: number }
  'affiliate.approved': { affiliateId: number }
  'affiliate.rejected': { affiliateId: number }
  'affiliate.terms_accepted': { affiliateId: number; version: string }
  'membership.started': { membershipId: number; userId: number; plan: string; customer?: EventCustomer | null }
  'membership.ended': { membershipId: number; userId: number; plan: string; customer?: EventCustomer | null }
  'subscription.started': { subscriptionId: number; userId: number; customer?: EventCustomer | null }
  'subscription.renewed': {
    subscriptionId: number
    userId: number
    currentPeriodEnd: string
    customer?: EventCustomer | null
  }
  'subscription.ended': { subscriptionId: number; userId: number; customer?: EventCustomer | null }
  'donation.received': {
    donationId: number
    orderId: number | null
    amountMinor: number
    currency: string
    order?: OwnOrder | null
    customer?: EventCustomer | null
  }
}

export type EventCustomer = {
  id: number | null
  email: string | null
  firstName: string | null
  lastName: string | null
  phone: string | null
  companyName: string | null
}

export type OwnOrder = {
  id: number
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  currency: string
  total: number
  createdAt: string
  updatedAt: string
  renewalOf: number | null
  lineItems: { name: string; quantity: number; total: number }[]
  affiliateRef: string
  affiliateCampaign: string
  affiliateReferralCreated: boolean
  affiliateVisitId: number | null
  affiliateReferralId: number | null
  affiliateVisitConverted: boolean | null
  orderAttributionSourceType: string | null
  orderAttributionUtmSource: string | null
  orderAttributionUtmMedium: string | null
  orderAttributionUtmCampaign: string | null
  orderAttributionUtmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  invoiceUrl: string | null
  email: string | null
  totals: { subtotal: number; discount: number; shipping: number; tax: number; taxIncluded: boolean; total: number }
  taxes: { name: string; ratePercent: number; amount: number }[]
  shippingMethod: { id: string; name: string; estimate: string | null } | null
  shipments: Shipment[]
  images: (Image | null)[]
  orderToken: string
  lines: OwnOrderLine[]
  billingAddress: Address | null
  shippingAddress: Address | null
}

export type Shipment = {
  shippedAt: string
  carrier: string | null
  tracking: string | null
  url: string | null
  lines: { line: number; name: string; quantity: number }[]
}

export type Image = { url: string; alt: string; width: number; height: number; sizes: { url: string; width: number }[] }

export type OwnOrderLine = {
  productId: number
  variationId: number | null
  productSlug: string | null
  sku: string | null
  type: 'physical' | 'digital'
  name: string
  quantity: number
  unitPrice: number
  total: number
}

export type Address = {
  firstName?: string
  lastName?: string
  company?: string
  address1?: string
  address2?: string
  city?: string
  state?: string
  postcode?: string
  country?: string
  phone?: string
  email?: string
}

export type Nonce = {
  nonce: string
  headerName: 'X-Nonce'
  userLoggedIn: boolean
  userId?: number
  user: NonceUser | null
}

export type NonceUser = { id: number; email: string; displayName: string; roles: string[]; createdAt: string }

export type Meta = {
  correlationId: string | null
  correlation_id: string | null
  request_id: string | null
  timestamp: string
}

export type CartProblem = {
  path: string
  code:
    | 'unknown_product'
    | 'unavailable'
    | 'sold_out'
    | 'not_enough'
    | 'choose_variation'
    | 'coupon_unknown'
    | 'coupon_expired'
    | 'coupon_used'
    | 'coupon_minimum'
    | 'coupon_not_for_cart'
    | 'address_needed'
    | 'no_shipping_there'
    | 'below_minimum'
    | 'interval_mixed'
    | 'already_subscribed'
    | 'too_many_products'
    | 'total_too_high'
    | 'login_needed'
    | 'email_needed'
    | 'payment_unavailable'
    | 'too_many_unpaid'
    | 'too_many_attempts'
    | 'vat_id_invalid'
  message: string
  left?: number
  minimum?: number
  currentPeriodEnd?: string
}

export type StartedSession = { user: User; flags: Flags; entitlements: Entitlements; next: string }

export type User = {
  id: number
  email: string
  displayName: string
  roles: string[]
  createdAt: string
  billingEmail?: string
  billingPhone?: string
  companyName?: string
}

export type Flags = {
  isLoggedIn: boolean
  isAdmin: boolean
  hasCommerce: boolean
  hasMembershipsA: boolean
  hasMembershipsB: boolean
  hasAffiliates: boolean
  hasDownloads: boolean
  hasFormsA: boolean
  hasFormsB: boolean
  hasDonations: boolean
  hasActiveMembershipA: boolean
  hasActiveMembershipB: boolean
  hasAnyCompletedStoreOrder: boolean
  hasActiveSubscription: boolean
  hasProAccess: boolean
  isAffiliate: boolean
  isAffiliateApproved: boolean
  hasMembershipB: boolean
  hasCourseEnrollments: boolean
}

export type Entitlements = {
  flags: Flags
  formsProvider: string | null
  ordersSummary: OrdersSummary
  orders: RecentOrder[]
  donations: { donations: Donation[] }
  donationsSummary: DonationsSummary
  memberships: Membership[]
  membershipsSummary: MembershipsSummary
  subscriptions: Subscription[]
  subscriptionsSummary: SubscriptionsSummary
  affiliate: AffiliateStanding
  dependencies: Dependencies
  summaries: Summaries
}

export type OrdersSummary = { hasAnyCompletedOrder: boolean; totalOrders: number; lastOrderAt: string | null }

export type RecentOrder = {
  id: number
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  currency: string
  total: number
  createdAt: string
}

export type Donation = {
  id: number
  orderId: number | null
  amount: number
  currency: string
  campaign: string | null
  createdAt: string
}

export type DonationsSummary = { hasDonations: boolean; totalDonations: number; lastDonationAt: string | null }

export type Membership = {
  id: number
  module: 'A' | 'B'
  planId: number
  planSlug: string
  planName: string
  status: 'active' | 'expired' | 'cancelled'
  startedAt: string
  expiresAt: string | null
  isPro: boolean
}

export type MembershipsSummary = {
  activeMembershipCount: number
  totalMemberships: number
  primaryPlan: PrimaryPlan | null
}

export type PrimaryPlan = {
  planId: number
  planSlug: string
  planName: string
  module: 'A' | 'B'
  status: 'active' | 'expired' | 'cancelled'
  expiresAt: string | null
}

export type Subscription = {
  id: number
  productId: number
  name: string
  status: 'active' | 'past_due' | 'cancelled' | 'expired'
  interval: 'month' | 'year'
  currentPeriodEnd: string
  cancelAtPeriodEnd: boolean
}

export type SubscriptionsSummary = { activeSubscriptionCount: number; totalSubscriptions: number }

export type AffiliateStanding = { id: number | string | null; isActive: boolean; status: string | null }

export type Dependencies = {
  hasCommerce: boolean
  hasMembershipsA: boolean
  hasMembershipsB: boolean
  hasAffiliates: boolean
  hasDownloads: boolean
  hasFormsA: boolean
  hasFormsB: boolean
  hasDonations: boolean
  hasCourses: boolean
}

export type Summaries = {
  orders: OrdersSummary
  donations: DonationsSummary
  memberships: MembershipsSummary
  subscriptions: SubscriptionsSummary
  affiliate: AffiliateStanding
  dependencies: Dependencies
}

export type PendingRegistration = {
  user: User
  flags: Flags
  entitlements: Entitlements
  registrationStatus: 'pending_verification'
}

export type Me = {
  user: User
  flags: Flags
  entitlements: Entitlements
  roles: Roles
  profile: Profile
  consent: Consent
}

export type Roles = { wpRoles: string[]; serviceRoles: string[] }

export type Profile = { firstName: string | null; lastName: string | null }

export type Consent = { marketingOptIn: boolean; termsAcceptedAt: string | null; privacyAcceptedAt: string | null }

export type Order = {
  id: number
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  currency: string
  total: number
  createdAt: string
  updatedAt: string
  renewalOf: number | null
  lineItems: { name: string; quantity: number; total: number }[]
  affiliateRef: string
  affiliateCampaign: string
  affiliateReferralCreated: boolean
  affiliateVisitId: number | null
  affiliateReferralId: number | null
  affiliateVisitConverted: boolean | null
  orderAttributionSourceType: string | null
  orderAttributionUtmSource: string | null
  orderAttributionUtmMedium: string | null
  orderAttributionUtmCampaign: string | null
  orderAttributionUtmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  invoiceUrl: string | null
}

export type Pagination = { page: number; perPage: number; total: number; totalPages: number }

export type OwnSubscription = {
  id: number
  productId: number
  name: string
  status: 'active' | 'past_due' | 'cancelled' | 'expired'
  interval: 'month' | 'year'
  currentPeriodEnd: string
  cancelAtPeriodEnd: boolean
  amount: number
  currency: string
  nextPaymentAt: string | null
  canCancel: boolean
  manageUrl: string | null
}

export type Offer = {
  offerId: string
  productId: number
  productSlug: string
  name: string
  description: string
  url: string
  price: { currency: string; amount: number; originalAmount: number | null; isOnSale: boolean }
  categories: string[]
  tags: string[]
  image: Image | null
  available: boolean
  variationCount: number
}

export type Card = {
  productId: number
  slug: string
  name: string
  summary: string
  url: string
  type: 'physical' | 'digital'
  categories: { slug: string; name: string }[]
  price: Price
  image: Image | null
  available: boolean
  variationCount: number
}

export type Price = { amount: number; originalAmount: number | null; currency: string; from: boolean }

export type Product = {
  productId: number
  slug: string
  name: string
  summary: string
  url: string
  type: 'physical' | 'digital'
  categories: { slug: string; name: string }[]
  price: Price
  image: Image | null
  available: boolean
  variationCount: number
  sku: string | null
  brand: string | null
  gtin: string | null
  description: string
  descriptionHtml: string | null
  seo: { title: string | null; description: string | null }
  tags: string[]
  images: Image[]
  options: { name: string; values: string[] }[]
  variations: Variation[]
  grants: Grant[]
  requiresShipping: boolean
  weightGrams: number | null
  dimensions: { lengthMm: number | null; widthMm: number | null; heightMm: number | null }
  stockLeft: number | null
  updatedAt: string
}

export type Variation = {
  variationId: number
  sku: string
  name: string
  options: { [name: string]: string }
  price: Price
  available: boolean
  stockLeft: number | null
  image: Image | null
  gtin: string | null
  isDefault: boolean
}

export type Grant = { kind: 'membership' | 'subscription' | 'course' | 'download' | 'donation'; text: string }

export type Category = {
  slug: string
  name: string
  description: string
  parent: string | null
  productCount: number
  image: Image | null
}

export type Quote = {
  currency: string
  lines: QuoteLine[]
  coupons: { code: string; accepted: boolean; problem: LineProblem | null }[]
  subtotal: number
  discount: number
  shipping: {
    required: boolean
    methods: { id: string; name: string; amount: number; estimate: string | null }[]
    chosen: string | null
    amount: number
  }
  tax: { included: boolean; amount: number; lines: { name: string; ratePercent: number; amount: number }[] }
  total: number
  payable: boolean
  problems: CartProblem[]
}

export type QuoteLine = {
  productId: number
  variationId: number | null
  name: string | null
  quantity: number
  unitPrice: number | null
  total: number
  image: Image | null
  problem: LineProblem | null
}

export type LineProblem = {
  code:
    | 'unknown_product'
    | 'unavailable'
    | 'sold_out'
    | 'not_enough'
    | 'choose_variation'
    | 'coupon_unknown'
    | 'coupon_expired'
    | 'coupon_used'
    | 'coupon_minimum'
    | 'coupon_not_for_cart'
    | 'address_needed'
    | 'no_shipping_there'
    | 'below_minimum'
    | 'interval_mixed'
    | 'already_subscribed'
    | 'too_many_products'
    | 'total_too_high'
    | 'login_needed'
    | 'email_needed'
    | 'payment_unavailable'
    | 'too_many_unpaid'
    | 'too_many_attempts'
    | 'vat_id_invalid'
  message: string
  left?: number
  minimum?: number
  currentPeriodEnd?: string
}

export type CheckoutRedirect = { checkoutUrl: string; orderId: string | null; orderToken: string; statusUrl: string }

export type CheckoutHandoff = {
  orderId: number
  orderToken: string
  statusUrl: string
  mode: string
  strategy: string
  provider: string
  paymentStatus: string
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  redirectUrl?: string
}

export type BuyerOrder = {
  id: number
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  currency: string
  total: number
  createdAt: string
  updatedAt: string
  renewalOf: number | null
  lineItems: { name: string; quantity: number; total: number }[]
  affiliateRef: string
  affiliateCampaign: string
  affiliateReferralCreated: boolean
  affiliateVisitId: number | null
  affiliateReferralId: number | null
  affiliateVisitConverted: boolean | null
  orderAttributionSourceType: string | null
  orderAttributionUtmSource: string | null
  orderAttributionUtmMedium: string | null
  orderAttributionUtmCampaign: string | null
  orderAttributionUtmContent: string | null
  marketingUtmSource: string | null
  marketingUtmMedium: string | null
  marketingUtmCampaign: string | null
  marketingUtmContent: string | null
  invoiceUrl: string | null
  email: string | null
  totals: { subtotal: number; discount: number; shipping: number; tax: number; taxIncluded: boolean; total: number }
  taxes: { name: string; ratePercent: number; amount: number }[]
  shippingMethod: { id: string; name: string; estimate: string | null } | null
  shipments: Shipment[]
  images: (Image | null)[]
}

export type GuestSubscription = {
  currentPeriodEnd: string
  cancelAtPeriodEnd: boolean
  nextPaymentAt: string | null
  canCancel: boolean
}

export type Referral = {
  id: number
  amountMinor: number
  currency: string
  status: 'pending' | 'unpaid' | 'paid' | 'rejected'
  createdAtUtc: string
}

export type Affiliate = {
  id: number
  code: string
  status: 'pending' | 'active' | 'inactive' | 'rejected'
  rate: number
  termsVersion: string | null
  termsAcceptedAt: string | null
}

export type AffiliateBalance = { currency: string; pendingMinor: number; unpaidMinor: number; paidMinor: number }

export type AffiliateStats = {
  from: string
  to: string
  days: { day: string; clicks: number; orders: number; commissions: { currency: string; amountMinor: number }[] }[]
  totals: {
    clicks: number
    orders: number
    commissions: { currency: string; amountMinor: number }[]
    conversionPercent: number
  }
}

export type Download = { id: number; productId: number; name: string; url: string; expiresAt: string }

export type Health = {
  status: string
  version: string
  env: 'development' | 'test' | 'production'
  wpVersion: string
  phpVersion: string
  dependencies: { commerce: 'active' | 'missing'; membershipsA: 'active' | 'missing'; affiliates: 'active' | 'missing' }
  buildId: string
  buildFlavor: 'source' | 'dist'
  nonceBootstrapStrategy: string
}
