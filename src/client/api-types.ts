// Written by "npm run client:generate" from the API description; a test fails when it is outdated.

/** The request and response of each operation, by method and path. */
export type Operations = {
  /** Issue a CSRF nonce */
  'GET /nonce': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: Nonce
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Create an account */
  'POST /auth/register': {
    query: undefined
    body: {
      /** An email address. */
      email: string
      /** The password, which the password policy of the shop accepts. */
      password: string
      /** The name that the shop shows for the user. */
      displayName: string
      /** Whether the customer accepts the terms. The shop refuses false. */
      acceptTerms: boolean
      /** The first name. */
      firstName?: string | null
      /** The last name. */
      lastName?: string | null
      /** Whether the customer agrees to marketing emails. */
      marketingOptIn?: boolean | null
      /** When the terms were accepted; null for never. */
      termsAcceptedAt?: string | null
      /** When the privacy policy was accepted; null for never. */
      privacyAcceptedAt?: string | null
    }
    answer:
      | {
          /** The result. */
          data: StartedSession
          /** Facts about the request. */
          meta: {
            /** The value of X-Correlation-Id, or a new one. */
            correlationId: string | null
            /** The value of X-Correlation-Id, or a new one. */
            correlation_id: string | null
            /** Also the value of X-Request-Id. */
            request_id: string | null
            /** When the service answered. */
            timestamp: string
            /** What comes next: nothing, or the link of the email. */
            nextStep: 'NONE'
          }
        }
      | {
          /** The result. */
          data: PendingRegistration
          /** Facts about the request. */
          meta: {
            /** The value of X-Correlation-Id, or a new one. */
            correlationId: string | null
            /** The value of X-Correlation-Id, or a new one. */
            correlation_id: string | null
            /** Also the value of X-Request-Id. */
            request_id: string | null
            /** When the service answered. */
            timestamp: string
            /** What comes next: nothing, or the link of the email. */
            nextStep: 'VERIFY_EMAIL'
            /** When it ends. */
            expiresAt: string
          }
        }
  }
  /** Start a session */
  'POST /auth/login': {
    query: undefined
    body: {
      /** The email address or user name; send this or email. */
      username?: string | null
      /** An email address. */
      email?: string | null
      /** The password, which the password policy of the shop accepts. */
      password: string
      /** Whether the session lasts longer than the browser session. */
      rememberMe?: boolean | null
    }
    answer: {
      /** The result. */
      data: StartedSession
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** End the session */
  'POST /auth/logout': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The session has ended. */
        loggedOut: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The current user */
  'GET /me': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: Me
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Change the profile; null clears an optional field */
  'PATCH /me': {
    query: undefined
    body: {
      /** The name that the shop shows for the user. */
      displayName?: string
      /** The first name. */
      firstName?: string | null
      /** The last name. */
      lastName?: string | null
      /** The email address for invoices. */
      billingEmail?: string | null
      /** The phone number for questions about an invoice. */
      billingPhone?: string | null
      /** The name of the company. */
      companyName?: string | null
      /** Whether the customer agrees to marketing emails. */
      marketingOptIn?: boolean | null
    }
    answer: {
      /** The result. */
      data: Me
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Verify an email with the token from the verification email */
  'POST /auth/verify-email': {
    query: undefined
    body: {
      /** The token of the link in the email. */
      token: string
    }
    answer: {
      /** The result. */
      data: {
        /** The email address is verified. */
        verified: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Send the verification email again; the response is the same for every email */
  'POST /auth/resend-verification': {
    query: undefined
    body: {
      /** An email address. */
      email: string
    }
    answer: {
      /** The result. */
      data: {
        /** The request is accepted. The answer does not reveal whether an account exists. */
        accepted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Send a link to set a new password; the response is the same for every email */
  'POST /auth/forgot-password': {
    query: undefined
    body: {
      /** An email address. */
      email: string
    }
    answer: {
      /** The result. */
      data: {
        /** The request is accepted. The answer does not reveal whether an account exists. */
        accepted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Set a new password with the token from the email; every session ends */
  'POST /auth/reset-password': {
    query: undefined
    body: {
      /** The token of the link in the email. */
      token: string
      /** The password, which the password policy of the shop accepts. */
      password: string
    }
    answer: {
      /** The result. */
      data: {
        /** The password is changed and all sessions have ended. */
        reset: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Change the password; other sessions end, and this one gets a new cookie */
  'POST /auth/change-password': {
    query: undefined
    body: {
      /** The password until now. */
      currentPassword: string
      /** The new password, which the password policy of the shop accepts. */
      newPassword: string
    }
    answer: {
      /** The result. */
      data: {
        /** The change is stored. */
        changed: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Send a link to a new email of the account; the response is the same for every email */
  'POST /auth/change-email': {
    query: undefined
    body: {
      /** An email address. */
      email: string
      /** The password, which the password policy of the shop accepts. */
      password: string
    }
    answer: {
      /** The result. */
      data: {
        /** The request is accepted. The answer does not reveal whether an account exists. */
        accepted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Make an email the account's with the token from the email; sessions stay */
  'POST /auth/confirm-email': {
    query: undefined
    body: {
      /** The token of the link in the email. */
      token: string
    }
    answer: {
      /** The result. */
      data: {
        /** The change is stored. */
        changed: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Erase the account for good; orders stay without personal data, and every session ends */
  'POST /me/delete': {
    query: undefined
    body: {
      /** The password, which the password policy of the shop accepts. */
      password: string
    }
    answer: {
      /** The result. */
      data: {
        /** The account is deleted. */
        deleted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The change of the email whose link was not used yet */
  'GET /me/email-change': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The change that waits for its link; null for none. */
        pending: {
          /** An email address. */
          email: string
          /** When the link ends. */
          expiresAt: string
        } | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Send the link of the pending change again; the earlier link ends */
  'POST /me/email-change/resend': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The request is accepted. The answer does not reveal whether an account exists. */
        accepted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Withdraw the pending change; its link ends. A second call changes nothing */
  'POST /me/email-change/withdraw': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The change of the email address is withdrawn. */
        withdrawn: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The address of the logged-in user's account, with which a checkout can start */
  'GET /me/address': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The address; null for none. */
        address: Address | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Store the address of the account, by the rules of its country; null removes it */
  'POST /me/address': {
    query: undefined
    body: {
      /** The address; null for none. */
      address: {
        /** The street and house number. */
        address1?: string | null
        /** A second line, such as the floor. */
        address2?: string | null
        /** The city. */
        city?: string | null
        /** The state or province. */
        state?: string | null
        /** The postcode. */
        postcode?: string | null
        /** ISO 3166-1 alpha-2. */
        country?: string | null
      } | null
    }
    answer: {
      /** The result. */
      data: {
        /** The address; null for none. */
        address: Address | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The logged-in customer's orders, newest first */
  'GET /orders': {
    query: {
      /** Default 1. */
      page?: number | undefined
      /** Default 20. */
      perPage?: number | undefined
    }
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The orders, the newest first. */
        orders: Order[]
        /** Which page this is, and how many there are. */
        pagination: Pagination
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** One order of the logged-in customer, with its lines, addresses and shipments */
  [operation: `GET /orders/${number}`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The order. */
        order: OwnOrder
        /** Whether the buyer can pay the order now. */
        canPay: boolean
        /** Null if canPay is false. */
        payUrl: string | null
        /** Whether POST /store/orders/{orderToken}/cancel can cancel it. */
        canCancel: boolean
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The logged-in customer's subscriptions with price and next payment, the latest first */
  'GET /me/subscriptions': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The subscriptions of the user. */
        subscriptions: OwnSubscription[]
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Cancel a subscription at the end of its paid period; a second call changes nothing */
  [operation: `POST /me/subscriptions/${number}/cancel`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The subscription after the change. */
        subscription: OwnSubscription
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Open the gateway's billing portal, for a site on another origin than the public URL */
  [operation: `POST /me/subscriptions/${number}/portal`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** Works for a few minutes for every browser that has it: send the buyer there and do not store it. */
        url: string
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The products of the shop in short, by category and search */
  'GET /store/offers': {
    query: {
      /** Default 1. The first-party proxy drops it. */
      page?: number | undefined
      /** Default 100. The first-party proxy drops it. */
      perPage?: number | undefined
      /** The slug of a category. The first-party proxy drops it. */
      category?: string | undefined
      /** Words to search for. The first-party proxy drops it. */
      search?: string | undefined
    }
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The offers of this page. */
        offers: Offer[]
        /** Which page this is, and how many there are. */
        pagination: Pagination
      }
      /** Facts about the request. */
      meta: { [name: string]: never }
    }
  }
  /** The products of the shop, by category and search */
  'GET /store/products': {
    query: {
      /** Default 1. */
      page?: number | undefined
      /** Default 24. */
      perPage?: number | undefined
      /** The slug of a category. */
      category?: string | undefined
      /** Words to search for. */
      search?: string | undefined
      /** Leaves out products that are sold out. */
      available?: 'true' | undefined
      /** Default position, the order of the shop with sold-out products last. The results of a search have the best ones first by default. */
      sort?: 'position' | 'newest' | 'price' | '-price' | 'name' | undefined
    }
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The products of this page. */
        products: Card[]
        /** Which page this is, and how many there are. */
        pagination: Pagination
      }
      /** Facts about the request. */
      meta: { [name: string]: never }
    }
  }
  /** One product with its variations, pictures and description */
  [operation: `GET /store/products/${string}`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The product. */
        product: Product
      }
      /** Facts about the request. */
      meta: { [name: string]: never }
    }
  }
  /** The categories with products, parents before children */
  'GET /store/categories': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The categories. */
        categories: Category[]
      }
      /** Facts about the request. */
      meta: { [name: string]: never }
    }
  }
  /** The prices, discounts and problems of a cart */
  'POST /store/quote': {
    query: undefined
    body: {
      /** What to buy, 1 to 30 entries. */
      items: {
        /** The id of the product. */
        productId: number
        /** How many. */
        quantity: number
        /** The id of the variation; required for a product with variations. */
        variationId?: number | null
      }[]
      /** A coupon code. */
      couponCode?: string | null
      /** Several coupon codes, at most 10. */
      couponCodes?: string[] | null
      /** Who buys. */
      customer?: {
        /** An email address. */
        email?: string | null
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** A phone number. */
        phone?: string | null
        /** The name of the company. */
        companyName?: string | null
        /** The VAT id of a company. */
        vatId?: string | null
        /** Whether a guest gets an account with this order. */
        createAccount?: boolean | null
        /** The password, which the password policy of the shop accepts. */
        password?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as companyName. */
        company_name?: string | null
        /** The same as vatId. */
        vat_id?: string | null
        /** The same as createAccount. */
        create_account?: boolean | null
      } | null
      /** The address for the invoice. */
      billingAddress?: {
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** The company. */
        company?: string | null
        /** The street and house number. */
        address1?: string | null
        /** A second line, such as the floor. */
        address2?: string | null
        /** The city. */
        city?: string | null
        /** The state or province. */
        state?: string | null
        /** The postcode. */
        postcode?: string | null
        /** The country as two letters, such as DE. */
        country?: string | null
        /** A phone number. */
        phone?: string | null
        /** An email address. */
        email?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as address1. */
        line1?: string | null
        /** The same as address1. */
        address_1?: string | null
        /** The same as address2. */
        line2?: string | null
        /** The same as address2. */
        address_2?: string | null
        /** The same as state. */
        province?: string | null
        /** The same as postcode. */
        postalCode?: string | null
        /** The same as postcode. */
        postal_code?: string | null
      } | null
      /** The address to ship to. */
      shippingAddress?: {
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** The company. */
        company?: string | null
        /** The street and house number. */
        address1?: string | null
        /** A second line, such as the floor. */
        address2?: string | null
        /** The city. */
        city?: string | null
        /** The state or province. */
        state?: string | null
        /** The postcode. */
        postcode?: string | null
        /** The country as two letters, such as DE. */
        country?: string | null
        /** A phone number. */
        phone?: string | null
        /** An email address. */
        email?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as address1. */
        line1?: string | null
        /** The same as address1. */
        address_1?: string | null
        /** The same as address2. */
        line2?: string | null
        /** The same as address2. */
        address_2?: string | null
        /** The same as state. */
        province?: string | null
        /** The same as postcode. */
        postalCode?: string | null
        /** The same as postcode. */
        postal_code?: string | null
      } | null
      /** The id of a shipping method of the quote. */
      shippingMethod?: string | null
      /** true buys a subscription that the customer already has once more. */
      subscribeAgain?: boolean | null
      /** redirect_to_store pays on the page of the shop, token_handoff by a token of your own payment form. */
      strategy?: 'redirect_to_store' | 'token_handoff' | null
    }
    answer: {
      /** The result. */
      data: Quote
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The ways to pay, and what a payment form on your own page needs */
  'GET /store/payment-config': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: PaymentConfig
      /** Facts about the request. */
      meta: { [name: string]: never }
    }
  }
  /** Create a checkout session */
  'POST /store/checkout-session': {
    query: {
      /** The code of the affiliate's link. */
      ref?: string | undefined
      /** The campaign; null for none. */
      campaign?: string | undefined
      /** Where the visitor came from, such as newsletter. */
      utm_source?: string | undefined
      /** The kind of link, such as email. */
      utm_medium?: string | undefined
      /** The campaign of the link. */
      utm_campaign?: string | undefined
      /** Which link of the campaign it was. */
      utm_content?: string | undefined
    }
    body: {
      /** What to buy, 1 to 30 entries. */
      items: {
        /** The id of the product. */
        productId: number
        /** How many. */
        quantity: number
        /** The id of the variation; required for a product with variations. */
        variationId?: number | null
      }[]
      /** A coupon code. */
      couponCode?: string | null
      /** Several coupon codes, at most 10. */
      couponCodes?: string[] | null
      /** Who buys. */
      customer?: {
        /** An email address. */
        email?: string | null
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** A phone number. */
        phone?: string | null
        /** The name of the company. */
        companyName?: string | null
        /** The VAT id of a company. */
        vatId?: string | null
        /** Whether a guest gets an account with this order. */
        createAccount?: boolean | null
        /** The password, which the password policy of the shop accepts. */
        password?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as companyName. */
        company_name?: string | null
        /** The same as vatId. */
        vat_id?: string | null
        /** The same as createAccount. */
        create_account?: boolean | null
      } | null
      /** The address for the invoice. */
      billingAddress?: {
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** The company. */
        company?: string | null
        /** The street and house number. */
        address1?: string | null
        /** A second line, such as the floor. */
        address2?: string | null
        /** The city. */
        city?: string | null
        /** The state or province. */
        state?: string | null
        /** The postcode. */
        postcode?: string | null
        /** The country as two letters, such as DE. */
        country?: string | null
        /** A phone number. */
        phone?: string | null
        /** An email address. */
        email?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as address1. */
        line1?: string | null
        /** The same as address1. */
        address_1?: string | null
        /** The same as address2. */
        line2?: string | null
        /** The same as address2. */
        address_2?: string | null
        /** The same as state. */
        province?: string | null
        /** The same as postcode. */
        postalCode?: string | null
        /** The same as postcode. */
        postal_code?: string | null
      } | null
      /** The address to ship to. */
      shippingAddress?: {
        /** The first name. */
        firstName?: string | null
        /** The last name. */
        lastName?: string | null
        /** The company. */
        company?: string | null
        /** The street and house number. */
        address1?: string | null
        /** A second line, such as the floor. */
        address2?: string | null
        /** The city. */
        city?: string | null
        /** The state or province. */
        state?: string | null
        /** The postcode. */
        postcode?: string | null
        /** The country as two letters, such as DE. */
        country?: string | null
        /** A phone number. */
        phone?: string | null
        /** An email address. */
        email?: string | null
        /** The same as firstName. */
        first_name?: string | null
        /** The same as lastName. */
        last_name?: string | null
        /** The same as address1. */
        line1?: string | null
        /** The same as address1. */
        address_1?: string | null
        /** The same as address2. */
        line2?: string | null
        /** The same as address2. */
        address_2?: string | null
        /** The same as state. */
        province?: string | null
        /** The same as postcode. */
        postalCode?: string | null
        /** The same as postcode. */
        postal_code?: string | null
      } | null
      /** The id of a shipping method of the quote. */
      shippingMethod?: string | null
      /** true buys a subscription that the customer already has once more. */
      subscribeAgain?: boolean | null
      /** redirect_to_store pays on the page of the shop, token_handoff by a token of your own payment form. */
      strategy?: 'redirect_to_store' | 'token_handoff' | null
      /** Where the buyer returns after the payment. */
      returnUrl?: string | null
      /** Where the buyer returns after they cancelled the payment. */
      cancelUrl?: string | null
      /** A note of the buyer for the shop. */
      notes?: string | null
      /** The id of Stripe's ConfirmationToken (ctoken_…), PaymentMethod (pm_…) or card token (tok_…). */
      paymentToken?: string | null
    }
    answer: {
      /** The result. */
      data: CheckoutRedirect | CheckoutHandoff
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** A buyer's own order, by the token from its checkout */
  [operation: `GET /store/orders/${string}`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The order. */
        order: BuyerOrder
        /** Whether the buyer can pay the order now. */
        canPay: boolean
        /** Null if canPay is false. */
        payUrl: string | null
        /** Whether POST /store/orders/{orderToken}/cancel can cancel it. */
        canCancel: boolean
        /** Null without a subscription that renews, and for the order of an account. */
        subscription: GuestSubscription | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Cancel an unpaid order: closes its payment page and releases its items; a second call changes nothing */
  [operation: `POST /store/orders/${string}/cancel`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The order. */
        order: BuyerOrder
        /** Whether the buyer can pay the order now. */
        canPay: boolean
        /** Null if canPay is false. */
        payUrl: string | null
        /** Whether POST /store/orders/{orderToken}/cancel can cancel it. */
        canCancel: boolean
        /** Null without a subscription that renews, and for the order of an account. */
        subscription: GuestSubscription | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** End the subscription of a guest's order with the period that is paid; a second call changes nothing */
  [operation: `POST /store/orders/${string}/end-subscription`]: {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The order. */
        order: BuyerOrder
        /** Whether the buyer can pay the order now. */
        canPay: boolean
        /** Null if canPay is false. */
        payUrl: string | null
        /** Whether POST /store/orders/{orderToken}/cancel can cancel it. */
        canCancel: boolean
        /** Null without a subscription that renews, and for the order of an account. */
        subscription: GuestSubscription | null
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The current affiliate's referrals, newest first */
  'GET /affiliates/referrals': {
    query: {
      /** Default 20. */
      limit?: number | undefined
      /** nextCursor of the previous page. */
      cursor?: string | undefined
    }
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The referrals of this page, the newest first. */
        referrals: Referral[]
        /** Null on the last page. */
        nextCursor: string | null
      }
    }
  }
  /** The current user's affiliate account and its balance */
  'GET /affiliates/me': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The affiliate account of the user. */
        affiliate: Affiliate
        /** The commissions of the affiliate by state. */
        balance: AffiliateBalance
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Clicks, orders and commissions of the current affiliate's links, day by day */
  'GET /affiliates/stats': {
    query: {
      /** Default 90. */
      days?: number | undefined
    }
    body: undefined
    answer: {
      /** The result. */
      data: AffiliateStats
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Count a click on an affiliate's link; the response is the same for every ref */
  'POST /affiliates/clicks': {
    query: undefined
    body: {
      /** The code of the affiliate's link. */
      ref: string
    }
    answer: {
      /** The result. */
      data: {
        /** The request is accepted. The answer does not reveal whether an account exists. */
        accepted: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Apply to become an affiliate */
  'POST /affiliates/apply': {
    query: undefined
    body: {
      /** The website of the affiliate. */
      website?: string | null
      /** A message for people. */
      message?: string | null
      /** The partner opt-in; absent counts as false. */
      marketingOptIn?: boolean | null
    }
    answer: {
      /** The result. */
      data: {
        /** The affiliate account of the user. */
        affiliate: Affiliate
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Accept the current affiliate terms */
  'POST /affiliates/terms': {
    query: undefined
    body: {
      /** The version of the service. */
      version: string
    }
    answer: {
      /** The result. */
      data: {
        /** The affiliate account of the user. */
        affiliate: Affiliate
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** The current user's downloads */
  'GET /me/downloads': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The files that the user may download. */
        downloads: Download[]
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Service status */
  'GET /health': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: Health
      /** Facts about the request. */
      meta: Meta
    }
  }
  /** Receive Stripe's webhooks */
  'POST /webhooks/stripe': {
    query: undefined
    body: undefined
    answer: {
      /** The result. */
      data: {
        /** The event is stored. */
        received: true
      }
      /** Facts about the request. */
      meta: Meta
    }
  }
}

/** The details of each error code. */
export type ErrorDetails = {
  AFFILIATE_EXISTS: { [name: string]: never }
  AFFILIATE_NOT_ACTIVE: { [name: string]: never }
  AFFILIATE_NOT_FOUND: { [name: string]: never }
  AFFILIATE_TERMS_REQUIRED: {
    /** The current version of the terms. */
    requiredVersion: string
    /** The version that the affiliate accepted; null for none. */
    acceptedVersion: string | null
  }
  AUTH_ACCOUNT_DEACTIVATED: { [name: string]: never }
  AUTH_EMAIL_NOT_VERIFIED: { [name: string]: never }
  AUTH_INVALID_CREDENTIALS: { [name: string]: never }
  AUTH_RATE_LIMITED: {
    /** The limit that was exceeded. */
    bucket: string
  }
  AUTH_REGISTRATION_DISABLED: { [name: string]: never }
  AUTH_REGISTRATION_FAILED: { [name: string]: never }
  CHECKOUT_DISABLED: { [name: string]: never }
  CHECKOUT_FAILED: {
    /** Safe to act on: payment_fraud_blocked, payment_card_declined_generic, payment_insufficient_funds, payment_card_expired, payment_card_incorrect, payment_authentication_required, payment_gateway_unavailable or payment_failed. */
    safeReason: string
    /** Always payment. */
    phase: string
    /** The step of the payment that failed. */
    step: 'create_intent' | 'confirm_intent'
    /** The gateway's error. */
    gatewayError: {
      /** The type of the error at the gateway. */
      type: string
      /** The code of the problem, for programs. */
      code?: string
      /** The bank's reason; null for none. */
      decline_code: string | null
      /** The parameter that the gateway refused. */
      param: string
      /** A message for people. */
      message: string
    }
    /** The id of the request in the gateway's log. */
    gatewayRequestId: string
  }
  CHECKOUT_GATEWAY_NOT_CONFIGURED: { [name: string]: never }
  CHECKOUT_NOT_IMPLEMENTED: { [name: string]: never }
  CONFIG_INVALID_AFFILIATE_TERMS_VERSION: { [name: string]: never }
  CONFLICT: { [name: string]: never }
  CSRF_FAILED: {
    /** The reason, for programs. */
    reason: 'missing_nonce' | 'invalid_nonce' | 'cross_site'
  }
  DEPENDENCY_UNAVAILABLE: {
    /** From the proxy: unreachable, timeout or malformed. */
    reason?: string
  }
  IDEMPOTENCY_KEY_REUSE_CONFLICT: {
    /** The reason, for programs. */
    reason: 'payload_mismatch' | 'in_progress'
  }
  INTERNAL_SERVER_ERROR: { [name: string]: never }
  METHOD_NOT_ALLOWED: { [name: string]: never }
  NOT_AUTHENTICATED: { [name: string]: never }
  NOT_FOUND: { [name: string]: never }
  PASSWORD_POLICY_VIOLATION: {
    /** The reason, for programs. */
    reason: 'password_policy'
    /** The rules that the password breaks. */
    rules: ('min_length' | 'max_length' | 'well_formed' | 'common' | 'personal')[]
  }
  PAYLOAD_TOO_LARGE: {
    /** The largest body that the endpoint accepts. */
    limitBytes: number
  }
  RATE_LIMITED: {
    /** The limit that was exceeded. */
    bucket: string
  }
  TOKEN_INVALID: { [name: string]: never }
  UNSUPPORTED_MEDIA_TYPE: { [name: string]: never }
  UPSTREAM_UNAVAILABLE: { [name: string]: never }
  VALIDATION_FAILED: {
    /** Messages by dotted path (items.0.quantity); _body means the whole body. */
    fieldErrors: { [name: string]: string[] }
    /** From checkout: the reasons why the cart cannot be bought, for programs. */
    problems?: CartProblem[]
  }
  WEBHOOK_SIGNATURE_INVALID: { [name: string]: never }
}

/** The data of each event that the shop sends to webhooks. */
export type WebhookData = {
  /** An account was created */
  'account.registered': {
    /** The id of the account. */
    userId: number
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** The email address of an account was verified */
  'account.verified': {
    /** The id of the account. */
    userId: number
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** An account was deactivated */
  'account.deactivated': {
    /** The id of the account. */
    userId: number
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** An order was placed and is not paid yet */
  'order.created': {
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    totalMinor: number
    /** ISO 4217. */
    currency: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** An order was paid */
  'order.paid': {
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    totalMinor: number
    /** ISO 4217. */
    currency: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** The status of an order changed */
  'order.status_changed': {
    /** The id of the order. */
    orderId: number
    /** The state before. */
    from: string
    /** The state now. */
    to: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** An order was refunded, in full or in part */
  'order.refunded': {
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
    /** Whether everything is refunded now. */
    full: boolean
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A refund did not reach the buyer: the money is back with the shop */
  'order.refund_failed': {
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** Goods of an order were handed to a carrier */
  'order.shipped': {
    /** The id of the order. */
    orderId: number
    /** The id of the shipment. */
    shipmentId: number
    /** The carrier; null if it is unknown. */
    carrier: string | null
    /** The tracking number; null for none. */
    tracking: string | null
    /** Whether everything is shipped now. */
    complete: boolean
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A buyer disputed a payment with their bank */
  'order.disputed': {
    /** The id of the order. */
    orderId: number
    /** The id of the dispute at the gateway. */
    disputeId: string
    /** The gateway's word. */
    status: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** An order was attributed to an affiliate */
  'referral.created': {
    /** The id of the referral. */
    referralId: number
    /** The id of the affiliate account. */
    affiliateId: number
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
  }
  /** A referral was accepted: its commission is owed */
  'referral.accepted': {
    /** The id of the referral. */
    referralId: number
    /** The id of the affiliate account. */
    affiliateId: number
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
  }
  /** A referral was rejected: its commission is not owed */
  'referral.rejected': {
    /** The id of the referral. */
    referralId: number
    /** The id of the affiliate account. */
    affiliateId: number
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
    /** The reason, for programs. */
    reason: string
  }
  /** The commission of a referral was paid out */
  'referral.paid': {
    /** The id of the referral. */
    referralId: number
    /** The id of the affiliate account. */
    affiliateId: number
    /** The id of the order. */
    orderId: number
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
    /** The id of the payout. */
    payoutId: number
  }
  /** A user applied to become an affiliate */
  'affiliate.applied': {
    /** The id of the affiliate account. */
    affiliateId: number
  }
  /** An affiliate application was approved */
  'affiliate.approved': {
    /** The id of the affiliate account. */
    affiliateId: number
  }
  /** An affiliate application was rejected */
  'affiliate.rejected': {
    /** The id of the affiliate account. */
    affiliateId: number
  }
  /** An affiliate accepted the terms */
  'affiliate.terms_accepted': {
    /** The id of the affiliate account. */
    affiliateId: number
    /** The version of the service. */
    version: string
  }
  /** A membership started */
  'membership.started': {
    /** The id of the membership. */
    membershipId: number
    /** The id of the account. */
    userId: number
    /** The slug of the membership plan. */
    plan: string
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A membership ended */
  'membership.ended': {
    /** The id of the membership. */
    membershipId: number
    /** The id of the account. */
    userId: number
    /** The slug of the membership plan. */
    plan: string
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A subscription started */
  'subscription.started': {
    /** The id of the subscription. */
    subscriptionId: number
    /** The id of the account. */
    userId: number
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A subscription was paid for another period */
  'subscription.renewed': {
    /** The id of the subscription. */
    subscriptionId: number
    /** The id of the account. */
    userId: number
    /** The end of the period that is paid. */
    currentPeriodEnd: string
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A subscription ended */
  'subscription.ended': {
    /** The id of the subscription. */
    subscriptionId: number
    /** The id of the account. */
    userId: number
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
  /** A donation was received */
  'donation.received': {
    /** The id of the donation. */
    donationId: number
    /** The id of the order. */
    orderId: number | null
    /** In minor units, such as cents. */
    amountMinor: number
    /** ISO 4217. */
    currency: string
    /** Only with full data: the order as it is when the event is sent. Null if there is none. */
    order?: OwnOrder | null
    /** Only with full data. Null if there is none, or if the person is erased. */
    customer?: EventCustomer | null
  }
}

/** The buyer of an order, or the owner of an account. */
export type EventCustomer = {
  /** The id of the account; null for a guest. */
  id: number | null
  /** An email address. */
  email: string | null
  /** The first name. */
  firstName: string | null
  /** The last name. */
  lastName: string | null
  /** A phone number. */
  phone: string | null
  /** The name of the company. */
  companyName: string | null
}

/** An order as its customer sees it. */
export type OwnOrder = {
  /** The id. */
  id: number
  /** The state. */
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  /** ISO 4217. */
  currency: string
  /** The total, in major units. */
  total: number
  /** When it was created. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
  /** For the renewal of a subscription: the order that started the subscription. Null for other orders. */
  renewalOf: number | null
  /** Totals after their share of the discounts; they add up to the total of the order. */
  lineItems: {
    /** The name. */
    name: string
    /** How many. */
    quantity: number
    /** The total, in major units. */
    total: number
  }[]
  /** Empty without an affiliate. */
  affiliateRef: string
  /** The campaign of the affiliate's link; empty without one. */
  affiliateCampaign: string
  /** Whether the affiliate has a referral for this order. */
  affiliateReferralCreated: boolean
  /** The id of the visit by the affiliate; null without one. */
  affiliateVisitId: number | null
  /** The id of the referral; null without one. */
  affiliateReferralId: number | null
  /** True once the order is paid and its referral accepted; null without a visit. */
  affiliateVisitConverted: boolean | null
  /** referral, utm or typein. */
  orderAttributionSourceType: string | null
  /** The source that the order is attributed to; null for none. */
  orderAttributionUtmSource: string | null
  /** The medium that the order is attributed to; null for none. */
  orderAttributionUtmMedium: string | null
  /** The campaign that the order is attributed to; null for none. */
  orderAttributionUtmCampaign: string | null
  /** The content that the order is attributed to; null for none. */
  orderAttributionUtmContent: string | null
  /** utm_source of the checkout; null for none. */
  marketingUtmSource: string | null
  /** utm_medium of the checkout; null for none. */
  marketingUtmMedium: string | null
  /** utm_campaign of the checkout; null for none. */
  marketingUtmCampaign: string | null
  /** utm_content of the checkout; null for none. */
  marketingUtmContent: string | null
  /** The invoice as a page; as a PDF with `?format=pdf`. Null for an order that was never paid. */
  invoiceUrl: string | null
  /** The email address of the order. */
  email: string | null
  /** subtotal - discount + shipping = total; plus tax if it is not included. */
  totals: {
    /** The lines before discounts. */
    subtotal: number
    /** The discounts together. */
    discount: number
    /** The price of shipping. */
    shipping: number
    /** The tax together. */
    tax: number
    /** Whether the prices include the tax. */
    taxIncluded: boolean
    /** The total, in major units. */
    total: number
  }
  /** One for each rate. */
  taxes: {
    /** The name. */
    name: string
    /** The tax rate in percent. */
    ratePercent: number
    /** The amount, in major units. */
    amount: number
  }[]
  /** Null if nothing is shipped, or the order has no method. */
  shippingMethod: {
    /** The id. */
    id: string
    /** The name. */
    name: string
    /** How long shipping takes; null if it is unknown. */
    estimate: string | null
    /** Whether the buyer picks the goods up in the shop. */
    pickup: boolean
  } | null
  /** What was shipped; empty before the first shipment. */
  shipments: Shipment[]
  /** The picture of each line item, in their order. */
  images: (Image | null)[]
  /** Reads and cancels the order without a session: keep it secret. */
  orderToken: string
  /** The lines. */
  lines: OwnOrderLine[]
  /** The address for the invoice. */
  billingAddress: Address | null
  /** The address to ship to. */
  shippingAddress: Address | null
}

/** Goods that were handed to a carrier. */
export type Shipment = {
  /** When the carrier took it. */
  shippedAt: string
  /** The carrier; null if it is unknown. */
  carrier: string | null
  /** The tracking number; null for none. */
  tracking: string | null
  /** The carrier's page. */
  url: string | null
  /** The lines. */
  lines: {
    /** The number of the line in the order, from 1. */
    line: number
    /** The name. */
    name: string
    /** How many. */
    quantity: number
  }[]
}

export type Image = {
  /** The address. */
  url: string
  /** The description of the picture for people who do not see it. */
  alt: string
  /** The width in pixels. */
  width: number
  /** The height in pixels. */
  height: number
  /** The same picture in several widths, for srcset. */
  sizes: {
    /** The address. */
    url: string
    /** The width in pixels. */
    width: number
  }[]
}

export type OwnOrderLine = {
  /** The id of the product. */
  productId: number
  /** The id of the variation; null for a product without variations. */
  variationId: number | null
  /** Null if the product is not published any more. */
  productSlug: string | null
  /** Of the variation, else of the product. */
  sku: string | null
  /** Whether it is shipped or digital. */
  type: 'physical' | 'digital'
  /** The name. */
  name: string
  /** How many. */
  quantity: number
  /** Before discounts. */
  unitPrice: number
  /** After its share of the discounts. */
  total: number
}

export type Address = {
  /** The first name. */
  firstName?: string
  /** The last name. */
  lastName?: string
  /** The company. */
  company?: string
  /** The street and house number. */
  address1?: string
  /** A second line, such as the floor. */
  address2?: string
  /** The city. */
  city?: string
  /** The state or province. */
  state?: string
  /** The postcode. */
  postcode?: string
  /** The country as two letters, such as DE. */
  country?: string
  /** A phone number. */
  phone?: string
  /** The email address of the recipient. */
  email?: string
}

export type Nonce = {
  /** Send it as X-Nonce. It is valid for 12 hours, for this session. */
  nonce: string
  /** The header for the nonce. */
  headerName: 'X-Nonce'
  /** Whether the request has a valid session. */
  userLoggedIn: boolean
  /** Omitted without a session. */
  userId?: number
  /** The user who is logged in; null without a session. */
  user: NonceUser | null
}

/** A user without the billing and company fields. */
export type NonceUser = {
  /** The id. */
  id: number
  /** An email address. */
  email: string
  /** The name that the shop shows for the user. */
  displayName: string
  /** A subset of customer, affiliate and administrator. */
  roles: string[]
  /** When it was created. */
  createdAt: string
}

export type Meta = {
  /** The value of X-Correlation-Id, or a new one. */
  correlationId: string | null
  /** The value of X-Correlation-Id, or a new one. */
  correlation_id: string | null
  /** Also the value of X-Request-Id. */
  request_id: string | null
  /** When the service answered. */
  timestamp: string
}

export type CartProblem = {
  /** The field of the request. */
  path: string
  /** The code of the problem, for programs. */
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
  /** For the buyer. It names the product. */
  message: string
  /** not_enough: how many the buyer can order. */
  left?: number
  /** below_minimum, coupon_minimum: the smallest total. */
  minimum?: number
  /** already_subscribed: when the paid period ends. */
  currentPeriodEnd?: string
}

export type StartedSession = {
  /** The user who is logged in. */
  user: User
  /** What the shop offers and what the user may use, as booleans. */
  flags: Flags
  /** What the user is entitled to. */
  entitlements: Entitlements
  /** The path of GET /me, below the proxy for a request through it. */
  next: string
}

/** The three billing and company fields are omitted if they are not set. */
export type User = {
  /** The id. */
  id: number
  /** An email address. */
  email: string
  /** The name that the shop shows for the user. */
  displayName: string
  /** A subset of customer, affiliate and administrator. */
  roles: string[]
  /** When it was created. */
  createdAt: string
  /** The email address for invoices. */
  billingEmail?: string
  /** The phone number for questions about an invoice. */
  billingPhone?: string
  /** The name of the company. */
  companyName?: string
}

/** The shop's modules (hasCommerce and similar flags), and facts about the user. */
export type Flags = {
  /** Whether there is a session. */
  isLoggedIn: boolean
  /** Whether the user administers the shop. */
  isAdmin: boolean
  /** Whether the store is switched on. */
  hasCommerce: boolean
  /** Whether the membership module A is switched on. */
  hasMembershipsA: boolean
  /** Whether the membership module B is switched on. */
  hasMembershipsB: boolean
  /** Whether the affiliate module is switched on. */
  hasAffiliates: boolean
  /** Whether the download module is switched on. */
  hasDownloads: boolean
  /** Whether the form module A is switched on. */
  hasFormsA: boolean
  /** Whether the form module B is switched on. */
  hasFormsB: boolean
  /** Whether the donation module is switched on. */
  hasDonations: boolean
  /** Whether the user has an active membership of module A. */
  hasActiveMembershipA: boolean
  /** Whether the user has an active membership of module B. */
  hasActiveMembershipB: boolean
  /** Whether an order of the user is completed. */
  hasAnyCompletedStoreOrder: boolean
  /** Whether the user has an active subscription. */
  hasActiveSubscription: boolean
  /** Whether a membership or subscription gives the user pro access. */
  hasProAccess: boolean
  /** Whether the user has an affiliate account. */
  isAffiliate: boolean
  /** Whether the affiliate account is active. */
  isAffiliateApproved: boolean
  /** Whether the user has a membership of module B, active or not. */
  hasMembershipB: boolean
  /** Whether the user is enrolled in a course. */
  hasCourseEnrollments: boolean
}

export type Entitlements = {
  /** What the shop offers and what the user may use, as booleans. */
  flags: Flags
  /** The form module that is switched on; null for none. */
  formsProvider: string | null
  /** The orders of the user in numbers. */
  ordersSummary: OrdersSummary
  /** The newest 20. */
  orders: RecentOrder[]
  /** The donations, the newest first. */
  donations: {
    /** The donations, the newest first. */
    donations: Donation[]
  }
  /** The donations of the user in numbers. */
  donationsSummary: DonationsSummary
  /** The memberships of the user. */
  memberships: Membership[]
  /** The memberships of the user in numbers. */
  membershipsSummary: MembershipsSummary
  /** The subscriptions of the user. */
  subscriptions: Subscription[]
  /** The subscriptions of the user in numbers. */
  subscriptionsSummary: SubscriptionsSummary
  /** The affiliate account of the user. */
  affiliate: AffiliateStanding
  /** The modules of the shop. */
  dependencies: Dependencies
  /** The summaries once more, in one object. */
  summaries: Summaries
}

export type OrdersSummary = {
  /** Whether an order of the user is completed. */
  hasAnyCompletedOrder: boolean
  /** The number of orders in every state. */
  totalOrders: number
  /** When the newest order was placed; null without orders. */
  lastOrderAt: string | null
}

export type RecentOrder = {
  /** The id. */
  id: number
  /** The state. */
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  /** ISO 4217. */
  currency: string
  /** The total, in major units. */
  total: number
  /** When it was created. */
  createdAt: string
}

export type Donation = {
  /** The id. */
  id: number
  /** The id of the order; null for a donation without one. */
  orderId: number | null
  /** The amount, in major units. */
  amount: number
  /** ISO 4217. */
  currency: string
  /** The campaign; null for none. */
  campaign: string | null
  /** When it was created. */
  createdAt: string
}

export type DonationsSummary = {
  /** Whether the user has donated. */
  hasDonations: boolean
  /** The number of donations. */
  totalDonations: number
  /** When the user last donated; null for never. */
  lastDonationAt: string | null
}

export type Membership = {
  /** The id. */
  id: number
  /** The membership module. */
  module: 'A' | 'B'
  /** The id of the membership plan. */
  planId: number
  /** The slug of the membership plan. */
  planSlug: string
  /** The name of the membership plan. */
  planName: string
  /** The state. */
  status: 'active' | 'expired' | 'cancelled'
  /** When it started. */
  startedAt: string
  /** When it ends; null for never. */
  expiresAt: string | null
  /** Whether it gives pro access. */
  isPro: boolean
}

export type MembershipsSummary = {
  /** The number of active memberships. */
  activeMembershipCount: number
  /** The number of memberships, including ended ones. */
  totalMemberships: number
  /** The active membership of the highest rank; null for none. */
  primaryPlan: PrimaryPlan | null
}

/** The active membership of the highest rank. */
export type PrimaryPlan = {
  /** The id of the membership plan. */
  planId: number
  /** The slug of the membership plan. */
  planSlug: string
  /** The name of the membership plan. */
  planName: string
  /** The membership module. */
  module: 'A' | 'B'
  /** The state. */
  status: 'active' | 'expired' | 'cancelled'
  /** When it ends; null for never. */
  expiresAt: string | null
}

export type Subscription = {
  /** The id. */
  id: number
  /** The id of the product. */
  productId: number
  /** The name. */
  name: string
  /** The state. */
  status: 'active' | 'past_due' | 'cancelled' | 'expired'
  /** How often it renews. */
  interval: 'month' | 'year'
  /** The end of the period that is paid. */
  currentPeriodEnd: string
  /** Whether it ends with the period that is paid. */
  cancelAtPeriodEnd: boolean
}

export type SubscriptionsSummary = {
  /** The number of active subscriptions. */
  activeSubscriptionCount: number
  /** The number of subscriptions, including ended ones. */
  totalSubscriptions: number
}

export type AffiliateStanding = {
  /** The id. */
  id: number | string | null
  /** Whether the affiliate account is active. */
  isActive: boolean
  /** pending, active, inactive or rejected. */
  status: string | null
}

export type Dependencies = {
  /** Whether the store is switched on. */
  hasCommerce: boolean
  /** Whether the membership module A is switched on. */
  hasMembershipsA: boolean
  /** Whether the membership module B is switched on. */
  hasMembershipsB: boolean
  /** Whether the affiliate module is switched on. */
  hasAffiliates: boolean
  /** Whether the download module is switched on. */
  hasDownloads: boolean
  /** Whether the form module A is switched on. */
  hasFormsA: boolean
  /** Whether the form module B is switched on. */
  hasFormsB: boolean
  /** Whether the donation module is switched on. */
  hasDonations: boolean
  /** Whether the course module is switched on. */
  hasCourses: boolean
}

export type Summaries = {
  /** The same as ordersSummary. */
  orders: OrdersSummary
  /** The same as donationsSummary. */
  donations: DonationsSummary
  /** The same as membershipsSummary. */
  memberships: MembershipsSummary
  /** The same as subscriptionsSummary. */
  subscriptions: SubscriptionsSummary
  /** The affiliate account of the user. */
  affiliate: AffiliateStanding
  /** The modules of the shop. */
  dependencies: Dependencies
}

export type PendingRegistration = {
  /** The user who is logged in. */
  user: User
  /** What the shop offers and what the user may use, as booleans. */
  flags: Flags
  /** What the user is entitled to. */
  entitlements: Entitlements
  /** The customer must open the link of the email before they can log in. */
  registrationStatus: 'pending_verification'
}

export type Me = {
  /** The user who is logged in. */
  user: User
  /** What the shop offers and what the user may use, as booleans. */
  flags: Flags
  /** What the user is entitled to. */
  entitlements: Entitlements
  /** The roles of the user. */
  roles: Roles
  /** The name of the user. */
  profile: Profile
  /** What the user agreed to. */
  consent: Consent
}

export type Roles = {
  /** A subset of customer, affiliate and administrator. */
  wpRoles: string[]
  /** A subset of member, pro, affiliate and admin. */
  serviceRoles: string[]
}

export type Profile = {
  /** The first name. */
  firstName: string | null
  /** The last name. */
  lastName: string | null
}

export type Consent = {
  /** Whether the customer agrees to marketing emails. */
  marketingOptIn: boolean
  /** When the terms were accepted; null for never. */
  termsAcceptedAt: string | null
  /** When the privacy policy was accepted; null for never. */
  privacyAcceptedAt: string | null
}

export type Order = {
  /** The id. */
  id: number
  /** The state. */
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  /** ISO 4217. */
  currency: string
  /** The total, in major units. */
  total: number
  /** When it was created. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
  /** For the renewal of a subscription: the order that started the subscription. Null for other orders. */
  renewalOf: number | null
  /** Totals after their share of the discounts; they add up to the total of the order. */
  lineItems: {
    /** The name. */
    name: string
    /** How many. */
    quantity: number
    /** The total, in major units. */
    total: number
  }[]
  /** Empty without an affiliate. */
  affiliateRef: string
  /** The campaign of the affiliate's link; empty without one. */
  affiliateCampaign: string
  /** Whether the affiliate has a referral for this order. */
  affiliateReferralCreated: boolean
  /** The id of the visit by the affiliate; null without one. */
  affiliateVisitId: number | null
  /** The id of the referral; null without one. */
  affiliateReferralId: number | null
  /** True once the order is paid and its referral accepted; null without a visit. */
  affiliateVisitConverted: boolean | null
  /** referral, utm or typein. */
  orderAttributionSourceType: string | null
  /** The source that the order is attributed to; null for none. */
  orderAttributionUtmSource: string | null
  /** The medium that the order is attributed to; null for none. */
  orderAttributionUtmMedium: string | null
  /** The campaign that the order is attributed to; null for none. */
  orderAttributionUtmCampaign: string | null
  /** The content that the order is attributed to; null for none. */
  orderAttributionUtmContent: string | null
  /** utm_source of the checkout; null for none. */
  marketingUtmSource: string | null
  /** utm_medium of the checkout; null for none. */
  marketingUtmMedium: string | null
  /** utm_campaign of the checkout; null for none. */
  marketingUtmCampaign: string | null
  /** utm_content of the checkout; null for none. */
  marketingUtmContent: string | null
  /** The invoice as a page; as a PDF with `?format=pdf`. Null for an order that was never paid. */
  invoiceUrl: string | null
}

export type Pagination = {
  /** The number of the page, from 1. */
  page: number
  /** The number of entries on a page. */
  perPage: number
  /** The number of entries on all pages. */
  total: number
  /** The number of pages. */
  totalPages: number
}

export type OwnSubscription = {
  /** The id. */
  id: number
  /** The id of the product. */
  productId: number
  /** The name. */
  name: string
  /** The state. */
  status: 'active' | 'past_due' | 'cancelled' | 'expired'
  /** How often it renews. */
  interval: 'month' | 'year'
  /** The end of the period that is paid. */
  currentPeriodEnd: string
  /** Whether it ends with the period that is paid. */
  cancelAtPeriodEnd: boolean
  /** The price of one period. */
  amount: number
  /** ISO 4217. */
  currency: string
  /** When the next period is charged; null when none is, and after a failed renewal. */
  nextPaymentAt: string | null
  /** Whether POST /me/subscriptions/{id}/cancel can end it. */
  canCancel: boolean
  /** Opens the gateway's billing portal for the browser that is logged in at the public URL. */
  manageUrl: string | null
}

/** A published product. A product with variations has the price of its default variation. */
export type Offer = {
  /** The id of the offer. */
  offerId: string
  /** The id of the product. */
  productId: number
  /** The slug of the product, which GET /store/products/{slug} takes. */
  productSlug: string
  /** The name. */
  name: string
  /** The description as plain text. */
  description: string
  /** The address. */
  url: string
  /** The price. */
  price: {
    /** ISO 4217. */
    currency: string
    /** The amount, in major units. */
    amount: number
    /** The regular price during a sale; else null. */
    originalAmount: number | null
    /** Whether the price is reduced. */
    isOnSale: boolean
  }
  /** The names of the categories. */
  categories: string[]
  /** The tags. */
  tags: string[]
  /** The first picture; null for none. */
  image: Image | null
  /** Whether it can be bought now. */
  available: boolean
  /** 0 for a product without variations. */
  variationCount: number
}

export type Card = {
  /** The id of the product. */
  productId: number
  /** The part of an address that names it. */
  slug: string
  /** The name. */
  name: string
  /** Plain text of at most 200 characters. */
  summary: string
  /** The address. */
  url: string
  /** Whether it is shipped or digital. */
  type: 'physical' | 'digital'
  /** The categories. */
  categories: {
    /** The part of an address that names it. */
    slug: string
    /** The name. */
    name: string
  }[]
  /** The price. */
  price: Price
  /** The first picture; null for none. */
  image: Image | null
  /** Whether it can be bought now. */
  available: boolean
  /** 0 for a product without variations. */
  variationCount: number
}

export type Price = {
  /** The amount, in major units. */
  amount: number
  /** The regular price during a sale; else null. */
  originalAmount: number | null
  /** ISO 4217. */
  currency: string
  /** The amount is the lowest of several variations. */
  from: boolean
}

export type Product = {
  /** The id of the product. */
  productId: number
  /** The part of an address that names it. */
  slug: string
  /** The name. */
  name: string
  /** Plain text of at most 200 characters. */
  summary: string
  /** The address. */
  url: string
  /** Whether it is shipped or digital. */
  type: 'physical' | 'digital'
  /** The categories. */
  categories: {
    /** The part of an address that names it. */
    slug: string
    /** The name. */
    name: string
  }[]
  /** The price. */
  price: Price
  /** The first picture; null for none. */
  image: Image | null
  /** Whether it can be bought now. */
  available: boolean
  /** 0 for a product without variations. */
  variationCount: number
  /** The shop's own number of the article. */
  sku: string | null
  /** The brand; null for none. */
  brand: string | null
  /** A GTIN, EAN, UPC or ISBN. */
  gtin: string | null
  /** The description as plain text. */
  description: string
  /** The description as sanitised HTML; null if it has no markup. */
  descriptionHtml: string | null
  /** Texts for search engines; null for the name and summary. */
  seo: {
    /** The title for search engines; null for the name. */
    title: string | null
    /** The description as plain text. */
    description: string | null
  }
  /** The tags. */
  tags: string[]
  /** All pictures, the first one first. */
  images: Image[]
  /** The choices of a product with variations; each variation has one value of each. */
  options: {
    /** The name. */
    name: string
    /** The values to choose from. */
    values: string[]
  }[]
  /** The variations to choose from; empty for a product without variations. */
  variations: Variation[]
  /** What a paid order gives. */
  grants: Grant[]
  /** Whether it has to be shipped. */
  requiresShipping: boolean
  /** The weight in grams; null if it is unknown. */
  weightGrams: number | null
  /** The size in millimetres. */
  dimensions: {
    /** The length in millimetres; null if it is unknown. */
    lengthMm: number | null
    /** The width in millimetres; null if it is unknown. */
    widthMm: number | null
    /** The height in millimetres; null if it is unknown. */
    heightMm: number | null
  }
  /** Units left, when they are few (setting store.lowStock); else null. */
  stockLeft: number | null
  /** When it was last changed. */
  updatedAt: string
}

export type Variation = {
  /** The id of the variation. */
  variationId: number
  /** The shop's own number of the article. */
  sku: string
  /** The name. */
  name: string
  /** Its value of each option of the product. */
  options: { [name: string]: string }
  /** The price. */
  price: Price
  /** Whether it can be bought now. */
  available: boolean
  /** Units left, when they are few (setting store.lowStock); else null. */
  stockLeft: number | null
  /** The first picture; null for none. */
  image: Image | null
  /** Null for the GTIN of the product. */
  gtin: string | null
  /** Null for the weight of the product. */
  weightGrams: number | null
  /** Whether it is the variation that a page shows first. */
  isDefault: boolean
}

/** What a paid order gives, with further fields by kind. */
export type Grant = {
  /** The kind of benefit. */
  kind: 'membership' | 'subscription' | 'course' | 'download' | 'donation'
  /** The benefit in words. */
  text: string
}

export type Category = {
  /** The part of an address that names it. */
  slug: string
  /** The name. */
  name: string
  /** The description as plain text. */
  description: string
  /** The slug of the category above it. */
  parent: string | null
  /** The number of products in the category and below it. */
  productCount: number
  /** The first picture; null for none. */
  image: Image | null
}

export type Quote = {
  /** ISO 4217. */
  currency: string
  /** Equal items are one line, as in an order. */
  lines: QuoteLine[]
  /** The codes of the request, in their order. */
  coupons: {
    /** As sent. */
    code: string
    /** Whether the code applies to the cart. */
    accepted: boolean
    /** Why it cannot be bought; null if it can. */
    problem: LineProblem | null
  }[]
  /** The lines before discounts. */
  subtotal: number
  /** The discounts together. */
  discount: number
  /** The ways to ship the cart. */
  shipping: {
    /** Whether a line has to be shipped. */
    required: boolean
    /** The shipping methods for the address. */
    methods: {
      /** The id, which a checkout sends as shippingMethod. */
      id: string
      /** The name. */
      name: string
      /** The amount, in major units. */
      amount: number
      /** How long shipping takes; null if it is unknown. */
      estimate: string | null
      /** Whether the buyer picks the goods up in the shop, and gives no address. */
      pickup: boolean
    }[]
    /** The id of the chosen shipping method; null for none. */
    chosen: string | null
    /** The amount, in major units. */
    amount: number
  }
  /** The tax together. */
  tax: {
    /** Whether the prices include the tax. */
    included: boolean
    /** The amount, in major units. */
    amount: number
    /** One for each rate. */
    lines: {
      /** The name. */
      name: string
      /** The tax rate in percent. */
      ratePercent: number
      /** The amount, in major units. */
      amount: number
    }[]
  }
  /** subtotal - discount + shipping, and tax that is not included. */
  total: number
  /** Whether a checkout with the same body would be accepted now. */
  payable: boolean
  /** Why the cart cannot be bought; empty if it can. */
  problems: CartProblem[]
}

export type QuoteLine = {
  /** The id of the product. */
  productId: number
  /** The variation that the line buys. */
  variationId: number | null
  /** Null for a product that is not for sale. */
  name: string | null
  /** How many. */
  quantity: number
  /** Null if it is not known what the line buys. */
  unitPrice: number | null
  /** After its share of the discounts; 0 if the line cannot be bought. */
  total: number
  /** The variation's own picture, else the product's. */
  image: Image | null
  /** Why it cannot be bought; null if it can. */
  problem: LineProblem | null
}

export type LineProblem = {
  /** The code of the problem, for programs. */
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
  /** For the buyer. It names the product. */
  message: string
  /** not_enough: how many the buyer can order. */
  left?: number
  /** below_minimum, coupon_minimum: the smallest total. */
  minimum?: number
  /** already_subscribed: when the paid period ends. */
  currentPeriodEnd?: string
}

export type PaymentConfig = {
  /** The strategies that a checkout can have now. */
  strategies: ('redirect_to_store' | 'token_handoff')[]
  /** How the shop is paid: by its card gateway, or by hand, such as a transfer. */
  methods: ('card' | 'manual')[]
  /** Whether payments move money. */
  mode: 'test' | 'live'
  /** For the script of the gateway; it is not secret. Null if the shop has none. */
  publishableKey: string | null
  /** The script of the gateway for payment forms. Null without a publishable key. */
  scriptUrl: string | null
  /** The payment method configuration of Stripe's Payment Element; null for the default. */
  methodConfiguration: string | null
  /** ISO 4217. */
  currency: string
  /** The decimals of an amount in this currency. */
  currencyDecimals: number
}

/** strategy redirect_to_store: send the buyer to checkoutUrl. */
export type CheckoutRedirect = {
  /** The page to pay on: send the buyer there. */
  checkoutUrl: string
  /** The id of the order. */
  orderId: string | null
  /** Reads and cancels the order without a session: keep it secret. */
  orderToken: string
  /** The order's own page at the shop. */
  statusUrl: string
}

/** strategy token_handoff: the result of the payment. */
export type CheckoutHandoff = {
  /** The id of the order. */
  orderId: number
  /** Reads and cancels the order without a session: keep it secret. */
  orderToken: string
  /** The order's own page at the shop. */
  statusUrl: string
  /** test or live. */
  mode: string
  /** The strategy of the checkout. */
  strategy: string
  /** The gateway. */
  provider: string
  /** The PaymentIntent's status, or not_required for a zero total. */
  paymentStatus: string
  /** The state of the order. */
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  /** Send the buyer there: the bank requires another step. */
  redirectUrl?: string
}

/** An order as everyone with its token sees it. */
export type BuyerOrder = {
  /** The id. */
  id: number
  /** The state. */
  status: 'pending' | 'on-hold' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
  /** ISO 4217. */
  currency: string
  /** The total, in major units. */
  total: number
  /** When it was created. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
  /** For the renewal of a subscription: the order that started the subscription. Null for other orders. */
  renewalOf: number | null
  /** Totals after their share of the discounts; they add up to the total of the order. */
  lineItems: {
    /** The name. */
    name: string
    /** How many. */
    quantity: number
    /** The total, in major units. */
    total: number
  }[]
  /** Empty without an affiliate. */
  affiliateRef: string
  /** The campaign of the affiliate's link; empty without one. */
  affiliateCampaign: string
  /** Whether the affiliate has a referral for this order. */
  affiliateReferralCreated: boolean
  /** The id of the visit by the affiliate; null without one. */
  affiliateVisitId: number | null
  /** The id of the referral; null without one. */
  affiliateReferralId: number | null
  /** True once the order is paid and its referral accepted; null without a visit. */
  affiliateVisitConverted: boolean | null
  /** referral, utm or typein. */
  orderAttributionSourceType: string | null
  /** The source that the order is attributed to; null for none. */
  orderAttributionUtmSource: string | null
  /** The medium that the order is attributed to; null for none. */
  orderAttributionUtmMedium: string | null
  /** The campaign that the order is attributed to; null for none. */
  orderAttributionUtmCampaign: string | null
  /** The content that the order is attributed to; null for none. */
  orderAttributionUtmContent: string | null
  /** utm_source of the checkout; null for none. */
  marketingUtmSource: string | null
  /** utm_medium of the checkout; null for none. */
  marketingUtmMedium: string | null
  /** utm_campaign of the checkout; null for none. */
  marketingUtmCampaign: string | null
  /** utm_content of the checkout; null for none. */
  marketingUtmContent: string | null
  /** The invoice as a page; as a PDF with `?format=pdf`. Null for an order that was never paid. */
  invoiceUrl: string | null
  /** Masked. */
  email: string | null
  /** subtotal - discount + shipping = total; plus tax if it is not included. */
  totals: {
    /** The lines before discounts. */
    subtotal: number
    /** The discounts together. */
    discount: number
    /** The price of shipping. */
    shipping: number
    /** The tax together. */
    tax: number
    /** Whether the prices include the tax. */
    taxIncluded: boolean
    /** The total, in major units. */
    total: number
  }
  /** One for each rate. */
  taxes: {
    /** The name. */
    name: string
    /** The tax rate in percent. */
    ratePercent: number
    /** The amount, in major units. */
    amount: number
  }[]
  /** Null if nothing is shipped, or the order has no method. */
  shippingMethod: {
    /** The id. */
    id: string
    /** The name. */
    name: string
    /** How long shipping takes; null if it is unknown. */
    estimate: string | null
    /** Whether the buyer picks the goods up in the shop. */
    pickup: boolean
  } | null
  /** What was shipped; empty before the first shipment. */
  shipments: Shipment[]
  /** The picture of each line item, in their order. */
  images: (Image | null)[]
}

/** The subscription of an order without an account. */
export type GuestSubscription = {
  /** The end of the period that is paid. */
  currentPeriodEnd: string
  /** Whether it ends with the period that is paid. */
  cancelAtPeriodEnd: boolean
  /** Null when no other period will be charged. */
  nextPaymentAt: string | null
  /** Whether the subscription can be ended by the token. */
  canCancel: boolean
}

export type Referral = {
  /** The id. */
  id: number
  /** Minor units of the currency, net of refunds. */
  amountMinor: number
  /** ISO 4217. */
  currency: string
  /** The state. */
  status: 'pending' | 'unpaid' | 'paid' | 'rejected'
  /** When it was created. */
  createdAtUtc: string
}

export type Affiliate = {
  /** The id. */
  id: number
  /** The value of ref in links. */
  code: string
  /** The state. */
  status: 'pending' | 'active' | 'inactive' | 'rejected'
  /** Percent. */
  rate: number
  /** The version of the terms that the affiliate accepted; null for none. */
  termsVersion: string | null
  /** When the affiliate accepted the terms; null for never. */
  termsAcceptedAt: string | null
}

export type AffiliateBalance = {
  /** ISO 4217. */
  currency: string
  /** Minor units of the currency. */
  pendingMinor: number
  /** Minor units of the currency. */
  unpaidMinor: number
  /** Minor units of the currency. */
  paidMinor: number
}

export type AffiliateStats = {
  /** In UTC. */
  from: string
  /** In UTC. */
  to: string
  /** Every day, the earliest first. */
  days: {
    /** In UTC. */
    day: string
    /** The clicks on links of the affiliate. */
    clicks: number
    /** Orders whose referral is accepted, by the day they were placed. */
    orders: number
    /** Net of refunds, one entry for each currency. */
    commissions: {
      /** ISO 4217. */
      currency: string
      /** Minor units of the currency. */
      amountMinor: number
    }[]
  }[]
  /** The sums of all days. */
  totals: {
    /** The clicks on links of the affiliate. */
    clicks: number
    /** Orders whose referral is accepted, by the day they were placed. */
    orders: number
    /** Net of refunds, one entry for each currency. */
    commissions: {
      /** ISO 4217. */
      currency: string
      /** Minor units of the currency. */
      amountMinor: number
    }[]
    /** Orders for each hundred clicks, at most 100; 0 without clicks. */
    conversionPercent: number
  }
}

export type Download = {
  /** The id. */
  id: number
  /** The id of the product. */
  productId: number
  /** The name. */
  name: string
  /** A path on the public URL. Anyone with the link can use it until expiresAt. */
  url: string
  /** When it ends. */
  expiresAt: string
}

export type Health = {
  /** ok while the service answers. */
  status: string
  /** The version of the service. */
  version: string
  /** The environment. */
  env: 'development' | 'test' | 'production'
  /** Always n/a. */
  wpVersion: string
  /** Always n/a. */
  phpVersion: string
  /** The modules of the shop. */
  dependencies: {
    /** Whether the store is switched on. */
    commerce: 'active' | 'missing'
    /** Whether the membership module A is switched on. */
    membershipsA: 'active' | 'missing'
    /** Whether the affiliate module is switched on. */
    affiliates: 'active' | 'missing'
  }
  /** A digest of the files of the build. */
  buildId: string
  /** Whether the service runs from its sources or from its build. */
  buildFlavor: 'source' | 'dist'
  /** How nonces are made. */
  nonceBootstrapStrategy: string
}
