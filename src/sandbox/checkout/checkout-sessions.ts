import type Stripe from 'stripe'
import { checkAmount } from '../store/amounts.ts'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { expireSession } from './checkout-completion.ts'
import { discountLines, usableCoupon, createInlinePrice, priceData } from '../billing/prices.ts'
import { badParameter, badState, missingParameter } from '../http/errors.ts'
import { newId } from '../store/ids.ts'
import { filtersOf, listAnswer, listPage, pageShape } from '../http/lists.ts'
import {
  choice,
  email,
  flag,
  integer,
  list,
  mergeMetadata,
  metadata,
  required,
  shape,
  text,
  url
} from '../http/params.ts'
import type { Values } from '../http/params.ts'
import { shipping, shippingObject } from './shipping.ts'
import { setTimer } from '../timers.ts'

const lineItem = {
  price_data: shape(priceData),
  price: text({ max: 255 }),
  quantity: integer({ min: 1, max: 999_999 }),
  metadata: metadata()
}
/** Only rates that are created with the session. */
const shippingRate = {
  type: choice('fixed_amount'),
  display_name: required(text({ max: 100 })),
  fixed_amount: required(shape({ amount: required(integer({ min: 0 })), currency: required(text({ max: 3 })) })),
  metadata: metadata()
}
const createShape = {
  mode: required(choice('payment', 'subscription')),
  line_items: list(shape(lineItem)),
  success_url: required(url()),
  cancel_url: url(),
  client_reference_id: text({ max: 200 }),
  customer: text({ max: 255 }),
  customer_creation: choice('always', 'if_required'),
  custom_text: shape({ submit: shape({ message: required(text({ max: 1200 })) }) }),
  customer_email: email(),
  discounts: list(shape({ coupon: required(text({ max: 255 })) }), { max: 1 }),
  expires_at: integer({ min: 0 }),
  metadata: metadata(),
  currency: text({ max: 3 }),
  locale: text({ max: 20 }),
  submit_type: choice('auto', 'book', 'donate', 'pay', 'subscribe'),
  billing_address_collection: choice('auto', 'required'),
  phone_number_collection: shape({ enabled: required(flag()) }),
  payment_method_types: list(choice('card')),
  adaptive_pricing: shape({ enabled: flag() }),
  allow_promotion_codes: flag(),
  automatic_tax: shape({ enabled: required(flag()) }),
  payment_method_collection: choice('always', 'if_required'),
  ui_mode: choice('hosted', 'hosted_page'),
  payment_intent_data: shape({
    capture_method: choice('automatic', 'automatic_async'),
    description: text({ max: 1000 }),
    metadata: metadata(),
    receipt_email: email(),
    setup_future_usage: choice('off_session', 'on_session'),
    statement_descriptor: text({ max: 22 }),
    statement_descriptor_suffix: text({ max: 22 }),
    shipping
  }),
  payment_method_configuration: text({ max: 255 }),
  shipping_options: list(shape({ shipping_rate_data: required(shape(shippingRate)) }), { max: 5 }),
  subscription_data: shape({ description: text({ max: 500 }), metadata: metadata() })
}
type Params = Values<typeof createShape>
type Line = Values<typeof lineItem>

const minOpenSeconds = 30 * 60
const maxOpenSeconds = 24 * 3600

function createSession(context: Context, params: Params): Stripe.Checkout.Session {
  refuseCombinations(params)
  const expiresAt = checkExpiry(context, params.expires_at)
  const priced = priceLines(context, params)
  const currency = priced[0]?.price.currency ?? ''
  const coupon = params.discounts?.[0] && usableCoupon(context, params.discounts[0].coupon, currency)
  const lineItems = discountedLines(
    priced,
    discountLines(
      coupon,
      priced.map(({ amount_subtotal }) => amount_subtotal)
    )
  )
  const shippingChoice = chosenShipping(params, currency)
  const goods = lineItems.reduce((sum, { amount_total }) => sum + amount_total, 0)
  const total = goods + (shippingChoice?.amount ?? 0)
  if (total > 0) checkAmount(context, total, currency, 'line_items')
  const customer =
    params.customer === undefined ? null : getStored(context, 'customer', params.customer, 'customer').object
  const session = newSession(context, {
    mode: params.mode,
    currency,
    lineItems,
    coupon: coupon ?? null,
    shipping: shippingChoice,
    customer,
    customerEmail: params.customer_email ?? null,
    clientReferenceId: params.client_reference_id ?? null,
    expiresAt,
    metadata: mergeMetadata({}, params.metadata),
    successUrl: params.success_url,
    cancelUrl: params.cancel_url ?? null,
    locale: params.locale ?? null,
    submitText: params.custom_text?.submit?.message ?? null,
    customerCreation: params.customer_creation ?? (params.mode === 'payment' ? 'if_required' : 'always'),
    methodCollection: params.payment_method_collection ?? (params.mode === 'payment' ? 'if_required' : 'always')
  })
  const data = params.payment_intent_data
  save(context, 'checkout.session', session, {
    lineItems,
    intent: {
      description: data?.description ?? null,
      metadata: mergeMetadata({}, data?.metadata),
      receipt_email: data?.receipt_email ?? null,
      setup_future_usage: data?.setup_future_usage ?? null,
      statement_descriptor: data?.statement_descriptor ?? null,
      statement_descriptor_suffix: data?.statement_descriptor_suffix ?? null,
      shipping: shippingObject(data?.shipping)
    },
    subscription: {
      description: params.subscription_data?.description ?? null,
      metadata: mergeMetadata({}, params.subscription_data?.metadata)
    },
    couponId: coupon?.id ?? null,
    intentId: null,
    methodId: null
  })
  setTimer(context, session.id, 'expire_session', expiresAt * 1000)
  return session
}

function refuseCombinations(params: Params): void {
  if (!params.line_items?.length) throw missingParameter('line_items')
  if (params.customer !== undefined && params.customer_email !== undefined) {
    throw badParameter('You may only specify one of these parameters: customer, customer_email.', {
      code: 'parameters_exclusive',
      param: 'customer'
    })
  }
  if (params.mode === 'payment' && params.payment_method_collection !== undefined)
    throw badParameter('You can only set `payment_method_collection` if there are recurring prices.', {
      param: 'payment_method_collection'
    })
  const foreign = params.mode === 'payment' ? 'subscription_data' : 'payment_intent_data'
  if (params[foreign])
    throw badParameter(`You can not pass \`${foreign}\` in \`${params.mode}\` mode.`, { param: foreign })
}

/** The first option, which is chosen unless the buyer chooses another one. The sandbox's page offers no choice. */
function chosenShipping(params: Params, currency: string): { rateId: string; amount: number } | null {
  const first = params.shipping_options?.[0]?.shipping_rate_data
  if (first === undefined) return null
  const param = 'shipping_options'
  if (params.mode !== 'payment') throw badParameter('`shipping_options` can only be used in `payment` mode.', { param })
  if (first.fixed_amount.currency !== currency)
    throw badState('The shipping rate must have the currency of the Checkout Session.', { param })
  return { rateId: newId('shr'), amount: first.fixed_amount.amount }
}

function checkExpiry(context: Context, sent: number | undefined): number {
  const expiresAt = sent ?? context.now + maxOpenSeconds
  const open = expiresAt - context.now
  if (open < minOpenSeconds || open > maxOpenSeconds) {
    throw badState('The `expires_at` timestamp must be 30 minutes to 24 hours from Checkout Session creation.', {
      param: 'expires_at'
    })
  }
  return expiresAt
}

type PricedLine = {
  price: Stripe.Price
  name: string
  quantity: number
  amount_subtotal: number
  metadata: Record<string, string>
}

function priceLines(context: Context, { line_items: lines = [], mode }: Params): PricedLine[] {
  const priced = lines.map((line, at) => priceLine(context, line, `line_items[${at}]`))
  const recurring = priced.filter(({ price }) => price.type === 'recurring')
  if (mode === 'payment' && recurring.length > 0) {
    throw badState('You specified `payment` mode but passed a recurring price.', { param: 'line_items' })
  }
  if (mode === 'subscription' && recurring.length === 0) {
    throw badState('You must provide at least one recurring price in `subscription` mode.', { param: 'line_items' })
  }
  if (mode === 'payment' && priced.length > 100) {
    throw badState('A Checkout Session in `payment` mode has at most 100 line items.', { param: 'line_items' })
  }
  const mostLines = 20
  if (mode === 'subscription' && Math.max(recurring.length, priced.length - recurring.length) > mostLines) {
    const message = `A Checkout Session in \`subscription\` mode has at most ${mostLines} line items with recurring prices and ${mostLines} with one-time prices.`
    throw badState(message, { param: 'line_items' })
  }
  if (new Set(priced.map(({ price }) => price.currency)).size > 1) {
    throw badState('All prices of a Checkout Session must have the same currency.', { param: 'line_items' })
  }
  const intervals = new Set(
    recurring.map(({ price }) => `${price.recurring?.interval} ${price.recurring?.interval_count}`)
  )
  if (intervals.size > 1) throw badState('All recurring prices must have the same interval.', { param: 'line_items' })
  return priced
}

function priceLine(context: Context, line: Line, path: string): PricedLine {
  if ((line.price === undefined) === (line.price_data === undefined)) {
    throw badParameter(`You must specify one of \`price\` and \`price_data\` for ${path}.`, {
      code: 'parameter_missing',
      param: `${path}[price_data]`
    })
  }
  const { price, name } = line.price_data
    ? createInlinePrice(context, line.price_data, `${path}[price_data]`)
    : { price: getStored(context, 'price', line.price ?? '', `${path}[price]`).object, name: '' }
  const quantity = line.quantity
  if (quantity === undefined)
    throw badParameter('Quantity is required. Add `quantity` to the line item.', { param: `${path}[quantity]` })
  return {
    price,
    name,
    quantity,
    amount_subtotal: (price.unit_amount ?? 0) * quantity,
    metadata: mergeMetadata({}, line.metadata)
  }
}

function discountedLines(lines: readonly PricedLine[], discounts: readonly number[]): Stripe.LineItem[] {
  return lines.map((line, at) => {
    const amount_discount = discounts[at] ?? 0
    return {
      id: newId('li'),
      object: 'item',
      adjustable_quantity: null,
      amount_discount,
      amount_subtotal: line.amount_subtotal,
      amount_tax: 0,
      amount_total: line.amount_subtotal - amount_discount,
      currency: line.price.currency,
      description: line.name,
      metadata: line.metadata,
      price: line.price,
      quantity: line.quantity
    } satisfies Stripe.LineItem
  })
}

const listShape = {
  ...pageShape,
  customer: text({ max: 255 }),
  payment_intent: text({ max: 255 }),
  status: choice('complete', 'expired', 'open'),
  subscription: text({ max: 255 })
}

export const checkoutSessionRoutes: readonly Route[] = [
  route('checkout.sessions.create', 'POST /v1/checkout/sessions', createShape, createSession),
  route(
    'checkout.sessions.retrieve',
    'GET /v1/checkout/sessions/:id',
    {},
    (context, _params, id) => getStored(context, 'checkout.session', id).object
  ),
  route(
    'checkout.sessions.update',
    'POST /v1/checkout/sessions/:id',
    { metadata: metadata() },
    (context, params, id) => {
      const { object } = getStored(context, 'checkout.session', id)
      return save(context, 'checkout.session', { ...object, metadata: mergeMetadata(object.metadata, params.metadata) })
    }
  ),
  route('checkout.sessions.expire', 'POST /v1/checkout/sessions/:id/expire', {}, (context, _params, id) => {
    const { object } = getStored(context, 'checkout.session', id)
    if (object.status !== 'open') {
      throw badState(`Only an open Checkout Session can be expired. This one has a status of ${object.status}.`)
    }
    return expireSession(context, id)
  }),
  route(
    'checkout.sessions.line_items',
    'GET /v1/checkout/sessions/:id/line_items',
    pageShape,
    (context, params, id) => {
      const { lineItems } = getStored(context, 'checkout.session', id).hidden
      const from =
        params.starting_after === undefined ? 0 : lineItems.findIndex((item) => item.id === params.starting_after) + 1
      const to = from + (params.limit ?? 10)
      return listAnswer(lineItems.slice(from, to), `/v1/checkout/sessions/${id}/line_items`, to < lineItems.length)
    }
  ),
  route('checkout.sessions.list', 'GET /v1/checkout/sessions', listShape, (context, params) =>
    listPage(
      context,
      'checkout.session',
      params,
      '/v1/checkout/sessions',
      filtersOf(params, 'customer', 'payment_intent', 'status', 'subscription')
    )
  )
]

/** What a new session is created from. */
export type SessionTerms = {
  mode: 'payment' | 'subscription'
  currency: string
  lineItems: readonly Stripe.LineItem[]
  coupon: Stripe.Coupon | null
  /** The chosen shipping option and what it costs. */
  shipping: { rateId: string; amount: number } | null
  customer: Stripe.Customer | null
  customerEmail: string | null
  clientReferenceId: string | null
  /** Epoch seconds. */
  expiresAt: number
  metadata: Record<string, string>
  successUrl: string
  cancelUrl: string | null
  locale: string | null
  /** Markdown beside the button. */
  submitText: string | null
  customerCreation: 'always' | 'if_required'
  methodCollection: 'always' | 'if_required'
}

/** Fields of a session that the sandbox never changes. */
const unused = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: { business_name: null, individual_name: null, shipping_details: null },
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer_account: null,
  integration_identifier: null,
  invoice: null,
  invoice_creation: null,
  livemode: false,
  managed_payments: null,
  origin_context: null,
  payment_link: null,
  payment_method_configuration_details: null,
  payment_method_options: { card: { request_three_d_secure: 'automatic' } },
  payment_method_types: ['card'],
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  submit_type: null,
  ui_mode: 'hosted_page',
  wallet_options: null
} satisfies Partial<Stripe.Checkout.Session>

/** An open session with the URL of its payment page. The caller stores it. */
export function newSession(context: Context, terms: SessionTerms): Stripe.Checkout.Session {
  const id = newId('cs_test', 58)
  const sum = (field: 'amount_subtotal' | 'amount_total' | 'amount_discount'): number =>
    terms.lineItems.reduce((total, line) => total + line[field], 0)
  const { shipping } = terms
  const amountShipping = shipping?.amount ?? 0
  const email = terms.customerEmail ?? terms.customer?.email ?? null
  return {
    ...unused,
    id,
    object: 'checkout.session',
    amount_subtotal: sum('amount_subtotal'),
    amount_total: sum('amount_total') + amountShipping,
    cancel_url: terms.cancelUrl,
    client_reference_id: terms.clientReferenceId,
    created: context.now,
    currency: terms.currency,
    customer: terms.customer?.id ?? null,
    customer_creation: terms.customer ? null : terms.customerCreation,
    customer_details: email === null ? null : customerDetails(email),
    customer_email: terms.customerEmail,
    discounts: terms.coupon ? [{ coupon: terms.coupon.id, promotion_code: null }] : [],
    expires_at: terms.expiresAt,
    locale: terms.locale,
    custom_text: { ...unused.custom_text, submit: terms.submitText === null ? null : { message: terms.submitText } },
    metadata: terms.metadata,
    mode: terms.mode,
    payment_intent: null,
    payment_method_collection: terms.methodCollection,
    payment_status: 'unpaid',
    ...shippingFields(shipping),
    status: 'open',
    subscription: null,
    success_url: terms.successUrl,
    total_details: { amount_discount: sum('amount_discount'), amount_shipping: amountShipping, amount_tax: 0 },
    url: `${context.publicUrl}/sandbox/checkout/${id}`
  }
}

function shippingFields(
  shipping: SessionTerms['shipping']
): Pick<Stripe.Checkout.Session, 'shipping_cost' | 'shipping_options'> {
  if (shipping === null) return { shipping_cost: null, shipping_options: [] }
  const { rateId, amount } = shipping
  return {
    shipping_cost: { amount_subtotal: amount, amount_tax: 0, amount_total: amount, shipping_rate: rateId },
    shipping_options: [{ shipping_amount: amount, shipping_rate: rateId }]
  }
}

/** A session's `customer_details` with only an email. */
export function customerDetails(email: string): Stripe.Checkout.Session.CustomerDetails {
  return {
    address: { city: null, country: null, line1: null, line2: null, postal_code: null, state: null },
    business_name: null,
    email,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: []
  }
}
