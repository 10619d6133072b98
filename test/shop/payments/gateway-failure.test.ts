import { describe, expect, it } from 'vitest'
import {
  checkoutFailed,
  isRunningAlready,
  isSilence,
  readGatewayError,
  customerMessage,
  safeReason
} from '../../../src/shop/payments/gateway.ts'

const card = (fields: object) => ({ rawType: 'card_error', statusCode: 402, ...fields })
const details = (error: unknown) => checkoutFailed(readGatewayError(error), 'confirm_intent').details
const statusOf = (error: unknown) => checkoutFailed(readGatewayError(error), 'confirm_intent').status

describe('a gateway error', () => {
  it('is reduced to named fields without secrets', () => {
    const error = card({
      code: 'card_declined',
      decline_code: 'lost_card',
      message: 'No.',
      requestId: 'req_1',
      payment_intent: { client_secret: 'pi_1_secret_x' },
      raw: { charge: 'ch_1' },
      headers: {}
    })
    expect(details(error)).toEqual({
      safeReason: 'payment_card_declined_generic',
      phase: 'payment',
      step: 'confirm_intent',
      gatewayError: { type: 'card_error', code: 'card_declined', decline_code: 'lost_card', param: '', message: 'No.' },
      gatewayRequestId: 'req_1'
    })
  })

  it('has no code when the gateway sent none, a null decline code, and empty text for the rest', () => {
    expect(details(undefined).gatewayError).toEqual({ type: '', decline_code: null, param: '', message: '' })
  })

  it('is cut to the length of its fields', () => {
    const { gatewayError } = details(
      card({
        code: 'bad code<script>',
        decline_code: 'do not\nhonor',
        message: `Card 4242 4242 4242 4242 of 12345, not 1234.\u0000${'x'.repeat(300)}`,
        requestId: 'req_1\r\nSet-Cookie: a'
      })
    ) as { gatewayError: { code: string; decline_code: string; message: string } }
    expect(gatewayError).toMatchObject({ code: 'badcodescript', decline_code: 'donothonor' })
    expect(gatewayError.message).toMatch(/^Card {1,2}of , not 1234\. x+$/)
    expect(gatewayError.message).toHaveLength(200)
    expect(details(card({ requestId: 'req_1\r\nX: a' })).gatewayRequestId).toBe('req_1Xa')
  })

  it('has a message without tags and without the payment token', () => {
    const messageOf = (message: string, token?: string): string =>
      readGatewayError(card({ message }), token).error.message
    const sent = `pm_1'<img src=x onerror=alert(1)>`
    expect(messageOf(`No such PaymentMethod: '${sent}'; it may be <b>deleted</b>.`, sent)).toBe(
      "No such PaymentMethod: ''; it may be deleted."
    )
    expect(messageOf('tok_visa_1Abc was <<b>script>used before.')).toBe('was scriptused before.')
    expect(messageOf('It must be < 5 EUR')).toBe('It must be  5 EUR')
  })

  it.each([
    ['fraud', 'lost_card', 'payment_fraud_blocked'],
    ['card_declined', 'merchant_blacklist', 'payment_card_declined_generic'],
    ['card_declined', 'insufficient_funds', 'payment_insufficient_funds'],
    ['expired_card', undefined, 'payment_card_expired'],
    ['payment_intent_authentication_failure', undefined, 'payment_authentication_required'],
    ['processing_error', undefined, 'payment_failed'],
    ['constructor', '__proto__', 'payment_failed']
  ])('with code %s and decline code %s has the reason %s', (code, decline, reason) => {
    expect(details(card({ code, decline_code: decline })).safeReason).toBe(reason)
  })

  it.each([
    [card({}), 402],
    [{ rawType: 'invalid_request_error', statusCode: 400, param: 'payment_method_data[card][token]' }, 402],
    [{ rawType: 'invalid_request_error', statusCode: 400, param: 'amount' }, 502],
    [{ rawType: 'invalid_request_error', statusCode: 401 }, 502],
    [{ rawType: 'invalid_request_error', statusCode: 429 }, 502],
    [{ type: 'StripeConnectionError' }, 504],
    [{ type: 'StripeAPIError' }, 504],
    [new Error('socket hang up'), 504]
  ])('has the status of case %#', (error, status) => {
    expect(statusOf(error)).toBe(status)
  })

  it('keeps only the name of a parameter that contained a token', () => {
    for (const param of ['payment_method_data[card][token]', 'confirmation_token', 'payment_method'])
      expect(details(card({ param })).gatewayError).toMatchObject({ param: 'payment_method' })
  })

  it.each([
    ['StripeConnectionError', 'api_connection_error'],
    ['StripeAPIError', 'api_error'],
    ['StripeCardError', 'StripeCardError'],
    [undefined, '']
  ])("has for stripe-node's class %s the type %j, unless Stripe sent one", (type, known) => {
    expect(readGatewayError({ type }).error.type).toBe(known)
    expect(readGatewayError({ type, rawType: 'idempotency_error' }).error.type).toBe('idempotency_error')
  })

  it('counts as answered when its status is 400 or higher', () => {
    const read = (statusCode: unknown) => readGatewayError({ statusCode })
    expect([399, 400, 404, 500].map((status) => read(status).answered)).toEqual([false, true, true, true])
    expect([undefined, null, '500'].map((status) => read(status).answered)).toEqual([false, false, false])
    expect([399, 400, 409, 499, 500].map((status) => read(status).kind)).toEqual([
      'unknown',
      'broken',
      'unknown',
      'broken',
      'unknown'
    ])
  })

  it('counts as missing when its status or code says that the object is missing', () => {
    const errors = [{ statusCode: 404 }, { statusCode: 400, code: 'resource_missing' }, { statusCode: 400 }, undefined]
    expect(errors.map((error) => readGatewayError(error).missing)).toEqual([true, true, false, false])
  })

  it('is refused only for a card error and for the payment method of a request', () => {
    const kindOf = (rawType: string, param: string) => readGatewayError({ rawType, param, statusCode: 400 }).kind
    expect(kindOf('card_error', 'amount')).toBe('refused')
    expect(kindOf('invalid_request_error', 'payment_method')).toBe('refused')
    expect(kindOf('invalid_request_error', 'amount')).toBe('broken')
    expect(kindOf('api_error', 'payment_method')).toBe('broken')
    expect(kindOf('invalid_request_error', 'return_url')).toBe('broken')
  })

  it('limits identifiers to 200 characters, and ignores values that are not text', () => {
    const { error, requestId } = readGatewayError({ code: 'x'.repeat(201), param: 5, requestId: { a: 1 }, message: 7 })
    expect(error).toMatchObject({ code: 'x'.repeat(200), param: '', message: '' })
    expect(requestId).toBe('')
    expect(readGatewayError(null)).toEqual(readGatewayError('a text'))
  })

  it('keeps the text of its message without numbers that could be a card number', () => {
    const readMessage = (message: string) => readGatewayError({ message }).error.message
    expect(readMessage('  Try 1234 or\n12-34 again.  ')).toBe('Try 1234 or 12-34 again.')
    expect(readMessage('12345')).toBe('')
    expect(readMessage('4242-4242-4242-4242!')).toBe('!')
    expect(readMessage('1 2 3 4 5')).toBe('')
    expect(readMessage('1  2  3  4  5')).toBe('1  2  3  4  5')
    expect(readMessage('💳'.repeat(201))).toBe('💳'.repeat(200))
    expect(readMessage(`${'x'.repeat(199)} y`)).toBe('x'.repeat(199))
  })

  it('counts as silence without an answer, and as running when the gateway reports a conflict', () => {
    const errors = [undefined, { type: 'StripeConnectionError' }, { statusCode: 500 }, { statusCode: 409 }, card({})]
    expect(errors.map(isSilence)).toEqual([true, true, false, false, false])
    expect(isSilence({ rawType: 'card_error' })).toBe(false)
    expect([...errors, null, '409', 409].map(isRunningAlready)).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
      false,
      false
    ])
  })
})

describe('a declined payment', () => {
  const refused = (code: string, decline_code: string | null = null) =>
    ({ kind: 'refused', error: { code, decline_code } }) as const

  it.each([
    ['lost_card', 'payment_card_declined_generic'],
    ['stolen_card', 'payment_card_declined_generic'],
    ['fraudulent', 'payment_card_declined_generic'],
    ['merchant_blacklist', 'payment_card_declined_generic'],
    ['generic_decline', 'payment_card_declined_generic'],
    ['do_not_honor', 'payment_card_declined_generic'],
    ['insufficient_funds', 'payment_insufficient_funds'],
    ['expired_card', 'payment_card_expired'],
    ['incorrect_cvc', 'payment_card_incorrect'],
    ['invalid_cvc', 'payment_card_incorrect'],
    ['incorrect_number', 'payment_card_incorrect'],
    ['invalid_number', 'payment_card_incorrect'],
    ['incorrect_zip', 'payment_card_incorrect'],
    ['invalid_expiry_month', 'payment_card_incorrect'],
    ['invalid_expiry_year', 'payment_card_incorrect'],
    ['authentication_required', 'payment_authentication_required']
  ])('for %s has the reason %s, as a decline code and as an error code', (code, reason) => {
    expect(safeReason(refused('processing_error', code))).toBe(reason)
    expect(safeReason(refused(code))).toBe(reason)
    expect(safeReason(refused('expired_card', code))).toBe(reason)
  })

  it('has a reason from its code when the decline code is unknown', () => {
    expect(safeReason(refused('card_declined'))).toBe('payment_card_declined_generic')
    expect(safeReason(refused('card_declined', 'unheard_of'))).toBe('payment_card_declined_generic')
    expect(safeReason(refused('payment_intent_authentication_failure'))).toBe('payment_authentication_required')
    // Codes, not declines.
    expect(safeReason(refused('', 'card_declined'))).toBe('payment_failed')
  })

  it('has the reason fraud before any other', () => {
    expect(safeReason(refused('fraud', 'expired_card'))).toBe('payment_fraud_blocked')
  })

  it('has the reason payment_gateway_unavailable when it was not refused', () => {
    for (const kind of ['broken', 'unknown'] as const)
      expect(safeReason({ kind, error: { decline_code: null } })).toBe('payment_gateway_unavailable')
    expect(safeReason({ kind: 'refused', error: { decline_code: null } })).toBe('payment_failed')
  })

  it('has a message for each reason, and another one while the outcome is unknown', () => {
    const codes = ['fraud', 'lost_card', 'insufficient_funds', 'expired_card', 'invalid_cvc', 'authentication_required']
    const messages = [
      ...[...codes, 'unheard_of'].map((code) => customerMessage(refused(code))),
      customerMessage({ kind: 'broken', error: { decline_code: null } }),
      customerMessage({ kind: 'unknown', error: { decline_code: null } })
    ]
    expect(new Set(messages).size).toBe(9)
    for (const message of messages) expect(message).toMatch(/^[A-Z].+\.$/)
    expect(customerMessage({ kind: 'unknown', error: { code: 'fraud', decline_code: null } })).toBe(messages.at(-1))
  })
})
