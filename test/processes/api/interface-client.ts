// What the author of a site writes who has docs/interface.md and nothing else: only Node.js, and no module of ours.
import { request } from 'node:http'

export type Reply = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: {
    data?: Record<string, unknown>
    meta?: Record<string, unknown>
    error?: { code: string; message: string; details: Record<string, unknown> }
  }
}

/** A browser that calls the service through its site's first-party proxy (interface 1 and 5). */
export class Visitor {
  readonly base: string
  readonly cookies = new Map<string, string>()

  constructor(base: string) {
    this.base = base
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('GET', path, undefined, headers)
  }

  /** A request with the nonce that the proxy asks for, in the header that the answer of /nonce names. */
  async withNonce(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const { nonce, headerName } = (await this.get('/nonce')).body.data ?? {}
    return this.send(method, path, body, { [String(headerName)]: String(nonce), ...headers })
  }

  login(email: string, password: string): Promise<Reply> {
    return this.withNonce('POST', '/auth/login', { email, password })
  }

  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = {
      ...(this.cookies.size === 0 ? {} : { cookie: [...this.cookies].map((pair) => pair.join('=')).join('; ') }),
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...headers
    }
    return new Promise((resolve, reject) => {
      const call = request(`${this.base}${path}`, { method, headers: sent }, (answer) => {
        let received = ''
        answer.setEncoding('utf8').on('data', (piece: string) => (received += piece))
        answer.on('end', () => {
          for (const line of answer.headers['set-cookie'] ?? []) this.keep(line)
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: JSON.parse(received) as Reply['body']
          })
        })
      })
      call.on('error', reject)
      call.end(text)
    })
  }

  private keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

/** The type of a field as the tables of the interface name it. A name with `?` is optional. */
export type Shape = string | readonly [Shape] | { readonly [name: string]: Shape }

const primitives: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  null: (value) => value === null,
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value),
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null
}

/** The paths at which a value is not what the interface says. Other fields may be there. */
export function wrongFields(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof shape === 'string')
    return shape.split(' or ').some((name) => primitives[name]?.(value) === true) ? [] : [`${path}: not ${shape}`]
  if (isList(shape)) {
    if (!Array.isArray(value)) return [`${path}: not a list`]
    return value.flatMap((entry, index) => wrongFields(entry, shape[0], `${path}.${index}`))
  }
  if (typeof value !== 'object' || value === null) return [`${path}: not an object`]
  const fields = new Map<string, unknown>(Object.entries(value))
  return Object.entries(shape).flatMap(([name, part]) => {
    const plain = name.replace('?', '')
    if (!fields.has(plain)) return name.endsWith('?') ? [] : [`${path}.${plain}: missing`]
    return wrongFields(fields.get(plain), part, `${path}.${plain}`)
  })
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape)
}

const all = (names: string, type: string): Record<string, string> =>
  Object.fromEntries(names.split(' ').map((name) => [name, type]))

const plainUser = {
  id: 'integer',
  email: 'string',
  displayName: 'string',
  roles: ['string'],
  createdAt: 'time'
} as const
const user = { ...plainUser, 'billingEmail?': 'string', 'billingPhone?': 'string', 'companyName?': 'string' } as const
const flags = all(
  'isLoggedIn isAdmin hasCommerce hasMembershipsA hasAffiliates hasDownloads hasMembershipsB hasFormsA hasFormsB ' +
    'hasDonations hasActiveMembershipA hasActiveMembershipB hasAnyCompletedStoreOrder hasActiveSubscription ' +
    'hasProAccess isAffiliate isAffiliateApproved hasMembershipB hasCourseEnrollments',
  'boolean'
)
const orders = { hasAnyCompletedOrder: 'boolean', totalOrders: 'integer', lastOrderAt: 'string or null' }
const donations = { hasDonations: 'boolean', totalDonations: 'integer', lastDonationAt: 'string or null' }
const memberships = { activeMembershipCount: 'integer', totalMemberships: 'integer', primaryPlan: 'object or null' }
const subscriptions = { activeSubscriptionCount: 'integer', totalSubscriptions: 'integer' }
const affiliate = { id: 'string or number or null', isActive: 'boolean', status: 'string or null' }
const dependencies = all(
  'hasCommerce hasMembershipsA hasAffiliates hasCourses hasMembershipsB hasDownloads hasFormsA hasFormsB hasDonations',
  'boolean'
)
const entitlements = {
  flags,
  formsProvider: 'string or null',
  ordersSummary: orders,
  orders: 'array',
  donations: { donations: 'array' },
  donationsSummary: donations,
  memberships: 'array',
  membershipsSummary: memberships,
  subscriptions: 'array',
  subscriptionsSummary: subscriptions,
  affiliate,
  dependencies,
  summaries: { orders, donations, memberships, subscriptions, affiliate, dependencies }
}
const login = { user, flags, entitlements }
const pagination = all('page perPage total totalPages', 'number')
const attribution = [
  ...['SourceType', 'UtmSource', 'UtmMedium', 'UtmCampaign', 'UtmContent'].map((name) => `orderAttribution${name}`),
  ...['Source', 'Medium', 'Campaign', 'Content'].map((name) => `marketingUtm${name}`)
].join(' ')
const order = {
  ...all('id', 'integer'),
  ...all('status currency affiliateRef affiliateCampaign', 'string'),
  ...all('createdAt updatedAt', 'time'),
  ...all('affiliateVisitId affiliateReferralId', 'number or null'),
  ...all(attribution, 'string or null'),
  total: 'number',
  lineItems: [{ name: 'string', quantity: 'integer', total: 'number' }],
  affiliateReferralCreated: 'boolean',
  affiliateVisitConverted: 'boolean or null'
} as const
const offer = {
  ...all('offerId productSlug name description url', 'string'),
  productId: 'integer',
  price: { currency: 'string', amount: 'number', originalAmount: 'number or null', isOnSale: 'boolean' },
  categories: ['string'],
  tags: ['string']
} as const
const referral = { id: 'number', amountMinor: 'number', ...all('currency status createdAtUtc', 'string') }

/** The `data` of each success, and the `meta` and `error` of the envelope (interface 1, 2 and 4). */
export const shapes = {
  meta: { ...all('correlationId correlation_id request_id', 'string or null'), timestamp: 'time' },
  error: { code: 'string', message: 'string', details: 'object' },
  nonceOfGuest: { nonce: 'string', headerName: 'string', userLoggedIn: 'boolean', user: 'null' },
  nonceOfUser: { nonce: 'string', headerName: 'string', userLoggedIn: 'boolean', userId: 'integer', user: plainUser },
  registration: login,
  login: { ...login, next: 'string' },
  me: {
    user,
    roles: { wpRoles: ['string'], serviceRoles: ['string'] },
    flags,
    entitlements,
    profile: all('firstName lastName', 'string or null'),
    consent: { marketingOptIn: 'boolean', ...all('termsAcceptedAt privacyAcceptedAt', 'string or null') }
  },
  orders: { orders: [order], pagination },
  offers: { offers: [offer], pagination },
  redirect: { checkoutUrl: 'string', orderId: 'string or null' },
  handoff: { orderId: 'integer', ...all('mode strategy provider paymentStatus status', 'string') },
  gatewayFailure: {
    ...all('safeReason phase step gatewayRequestId', 'string'),
    gatewayError: { ...all('type param message', 'string'), 'code?': 'string', decline_code: 'string or null' }
  },
  referrals: { referrals: [referral], nextCursor: 'string or null' },
  health: {
    ...all('status version env wpVersion phpVersion buildId buildFlavor nonceBootstrapStrategy', 'string'),
    dependencies: all('commerce membershipsA affiliates', 'string')
  }
} as const satisfies Record<string, Shape>
