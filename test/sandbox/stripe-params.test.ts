import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatParams, stripeParams } from '../../.config/stripe-params.ts'
import { createBench } from './sandbox-support.ts'
import type { Bench } from './sandbox-support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench()
})

afterEach(() => bench.close())

/** Sends an encoded form, because stripe-node's types refuse most of these. */
async function send(target: string, form: string): Promise<{ status: number; error: unknown }> {
  const [method = '', path = ''] = target.split(' ')
  const inQuery = method === 'GET' && form !== ''
  const answer = await bench.sandbox.handleApi({
    method,
    path: inQuery ? `${path}?${form}` : path,
    headers: { authorization: 'Bearer sk_test_x' },
    body: inQuery ? '' : form
  })
  if (!('body' in answer)) throw new Error(`The sandbox answered with ${answer.kind}.`)
  const body = JSON.parse(answer.body) as { error?: unknown }
  return { status: 'status' in answer ? answer.status : 0, error: body.error }
}

const intent = 'amount=900&currency=eur'

describe("a request is checked against stripe-node's parameter types", () => {
  it.each([
    [
      'a misspelt parameter',
      'POST /v1/refunds',
      'payment_intnet=pi_1',
      'parameter_unknown',
      'payment_intnet',
      'Received unknown parameter: payment_intnet'
    ],
    [
      'a misspelt nested parameter',
      'POST /v1/payment_intents',
      `${intent}&shipping[name]=A&shipping[address][line1]=B&shipping[address][zip]=1`,
      'parameter_unknown',
      'shipping[address][zip]',
      'Received unknown parameter: shipping[address][zip]'
    ],
    [
      'several unknown parameters',
      'GET /v1/charges',
      'status=paid&order=7',
      'parameter_unknown',
      'status',
      'Received unknown parameters: status, order'
    ],
    [
      'a parameter of another endpoint',
      'POST /v1/refunds/re_1',
      'amount=5',
      'parameter_unknown',
      'amount',
      'Received unknown parameter: amount'
    ],
    [
      'a missing parameter',
      'POST /v1/payment_intents',
      'currency=eur',
      'parameter_missing',
      'amount',
      'Missing required param: amount.'
    ],
    [
      'a missing nested parameter',
      'POST /v1/checkout/sessions',
      'mode=payment&line_items[0][price_data][unit_amount]=5',
      'parameter_missing',
      'line_items[0][price_data][currency]',
      'Missing required param: line_items[0][price_data][currency].'
    ],
    [
      'a text for a number',
      'POST /v1/refunds',
      'charge=ch_1&amount=ten',
      'parameter_invalid_integer',
      'amount',
      'Invalid integer: ten'
    ],
    [
      'a text for a boolean',
      'POST /v1/payment_intents',
      `${intent}&confirm=yes`,
      undefined,
      'confirm',
      'Invalid boolean: yes'
    ],
    [
      'an object for a text',
      'POST /v1/payment_intents',
      `${intent}&customer[id]=cus_1`,
      undefined,
      'customer',
      'Invalid string'
    ],
    [
      'a text for an object',
      'POST /v1/payment_intents',
      `${intent}&shipping=Lena`,
      undefined,
      'shipping',
      'Invalid object'
    ],
    ['a text for an array', 'GET /v1/events', 'types=charge.succeeded', undefined, 'types', 'Invalid array'],
    ['a name for an index', 'GET /v1/events', 'types[a]=charge.succeeded', undefined, 'types', 'Invalid array'],
    [
      'a value outside an enum',
      'POST /v1/refunds',
      'charge=ch_1&reason=regret',
      undefined,
      'reason',
      'Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer'
    ],
    [
      'a value outside a nested enum',
      'POST /v1/payment_intents',
      `${intent}&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=no`,
      undefined,
      'automatic_payment_methods[allow_redirects]',
      'Invalid automatic_payment_methods[allow_redirects]: must be one of always or never'
    ],
    [
      'an empty text that unsets nothing',
      'POST /v1/refunds',
      'charge=',
      'parameter_invalid_empty',
      'charge',
      "You passed an empty string for 'charge'. We assume empty values are an attempt to unset a parameter; however 'charge' cannot be unset. You should remove 'charge' from your request or supply a non-empty value."
    ]
  ])('refuses %s as Stripe does', async (_what, target, form, code, param, message) => {
    const { status, error } = await send(target, form)
    expect(status).toBe(400)
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      param,
      message,
      ...(code === undefined ? {} : { code })
    })
  })

  it.each([
    ['a range or a number', 'GET /v1/charges', 'created[gte]=1'],
    ['a number for a range', 'GET /v1/charges', 'created=1'],
    ['an empty value for what can be unset', 'POST /v1/customers', 'address=&metadata='],
    ['metadata with any keys', 'POST /v1/customers', 'metadata[any]=1&metadata[other]='],
    ['decimals', 'POST /v1/coupons', 'percent_off=12.5&duration=once']
  ])('accepts %s', async (_what, target, form) => {
    expect(await send(target, form)).toMatchObject({ status: 200 })
  })

  it('says that the sandbox does not support a parameter that only Stripe knows', async () => {
    expect(await send('POST /v1/payment_intents', `${intent}&transfer_group=g`)).toMatchObject({
      status: 400,
      error: { param: 'transfer_group', message: 'The sandbox does not support the parameter transfer_group.' }
    })
  })

  it('knows the same parameters as the installed stripe-node', () => {
    const written = readFileSync('src/sandbox/http/stripe-params.json', 'utf8')
    expect(written === formatParams(stripeParams()), 'run "npm run sandbox:generate"').toBe(true)
  })
})
