import type Stripe from 'stripe'
import { getStored, route, save } from '../http/context.ts'
import type { Context, Route } from '../http/context.ts'
import { emit } from '../events/events.ts'
import { idOf, newId } from '../store/ids.ts'
import { filtersOf, listPage, pageShape } from '../http/lists.ts'
import { address, shipping, shippingObject } from '../checkout/shipping.ts'
import { email, emptyable, list, mergeMetadata, metadata, text } from '../http/params.ts'
import type { Values } from '../http/params.ts'

const customerShape = {
  address: emptyable(address),
  description: emptyable(text()),
  email: emptyable(email()),
  metadata: metadata(),
  name: emptyable(text({ max: 256 })),
  phone: emptyable(text({ max: 40 })),
  preferred_locales: list(text({ max: 20 })),
  shipping: emptyable(shipping)
}
type Params = Values<typeof customerShape>

const noParams: Params = {
  address: undefined,
  description: undefined,
  email: undefined,
  metadata: undefined,
  name: undefined,
  phone: undefined,
  preferred_locales: undefined,
  shipping: undefined
}

function createCustomer(context: Context, params: Params): Stripe.Customer {
  const blank = {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    created: context.now,
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    email: null,
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: null,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null
  } satisfies Stripe.Customer
  const customer = save(context, 'customer', withParams(blank, params))
  emit(context, 'customer.created', customer)
  return customer
}

/** The id of a completed session's customer: the one named at its creation, or a new one with its email. */
export function customerOf(context: Context, session: Stripe.Checkout.Session): string {
  const known = idOf(session.customer)
  return known ?? createCustomer(context, { ...noParams, email: session.customer_details?.email ?? null }).id
}

function updateCustomer(context: Context, params: Params, id: string): Stripe.Customer {
  const { object } = getStored(context, 'customer', id)
  const updated = save(context, 'customer', withParams(object, params))
  emit(context, 'customer.updated', updated)
  return updated
}

function withParams(customer: Stripe.Customer, params: Params): Stripe.Customer {
  const { address: sent, metadata: sentMetadata, shipping: sentShipping, ...plain } = params
  const fields = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  return {
    ...customer,
    ...fields,
    ...(sent === undefined ? {} : { address: sent && fullAddress(sent) }),
    ...(sentShipping === undefined ? {} : { shipping: sentShipping && shippingObject(sentShipping) }),
    metadata: mergeMetadata(customer.metadata, sentMetadata)
  }
}

function fullAddress(sent: NonNullable<Params['address']>): Stripe.Address {
  return {
    city: sent.city ?? null,
    country: sent.country ?? null,
    line1: sent.line1 ?? null,
    line2: sent.line2 ?? null,
    postal_code: sent.postal_code ?? null,
    state: sent.state ?? null
  }
}

export const customerRoutes: readonly Route[] = [
  route('customers.create', 'POST /v1/customers', customerShape, createCustomer),
  route(
    'customers.retrieve',
    'GET /v1/customers/:id',
    {},
    (context, _params, id) => getStored(context, 'customer', id).object
  ),
  route('customers.update', 'POST /v1/customers/:id', customerShape, updateCustomer),
  route('customers.list', 'GET /v1/customers', { ...pageShape, email: text({ max: 512 }) }, (context, params) =>
    listPage(context, 'customer', params, '/v1/customers', filtersOf(params, 'email'))
  )
]
