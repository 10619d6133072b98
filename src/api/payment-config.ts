import { hash } from 'node:crypto'
import { paymentConfig } from '../shop/checkout/payment-config.ts'
import { paymentConfigData } from './answers/payment-config.ts'
import { cachedAnswer, conditionalHeaders, sharedCaching } from './cached-answer.ts'
import { route } from './route.ts'

export const paymentConfigRoutes = [
  route({
    method: 'GET',
    path: '/store/payment-config',
    summary: 'The ways to pay, and what a payment form on your own page needs',
    answers: [{ data: paymentConfigData, meta: 'empty' }],
    refuses: [],
    headers: conditionalHeaders,
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    cache: 'public',
    invalid: 422,
    handler: (call) => {
      const body = Buffer.from(JSON.stringify({ data: paymentConfig(call.shop), meta: {} }))
      return cachedAnswer(call, { body, etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` }, sharedCaching)
    }
  })
]
