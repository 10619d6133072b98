import { describe, expect, it } from 'vitest'
import { checkoutFailed, readGatewayError } from '../../../src/shop/payments/gateway-failure.ts'

const card = (fields: object) => ({ rawType: 'card_error', statusCode: 402, ...fields })
const details = (error: unknown) => checkoutFailed(readGatewayError(error), 'confirm_intent').details
const statusOf = (error: unknown) => checkoutFailed(readGatewayError(error), 'confirm_intent').status

describe('a gateway error', () => {
  it('leaves the house as named fields only, and never with a secret', () => {
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

  it('has no code when the gateway gave none, a null decline code, and empty text for the rest', () => {
    expect(details(undefined).gatewayError).toEqual({ type: '', decline_code: null, param: '', message: '' })
  })

  it('is cut to what its fields may hold', () => {
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

  it.each([
    ['fraud', 'lost_card', 'payment_fraud_blocked'],
    ['card_declined', 'merchant_blacklist', 'payment_card_declined_generic'],
    ['card_declined', 'insufficient_funds', 'payment_insufficient_funds'],
    ['expired_card', undefined, 'payment_card_expired'],
    ['payment_intent_authentication_failure', undefined, 'payment_authentication_required'],
    ['processing_error', undefined, 'payment_failed'],
    ['constructor', '__proto__', 'payment_failed']
  ])('with code %s and decline code %s is told as %3$s', (code, decline, reason) => {
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
  ])('is answered %# with its status', (error, status) => {
    expect(statusOf(error)).toBe(status)
  })

  it('keeps only the names of a parameter that carried a token', () => {
    for (const param of ['payment_method_data[card][token]', 'confirmation_token', 'payment_method'])
      expect(details(card({ param })).gatewayError).toMatchObject({ param: 'payment_method' })
  })
})
