import { assertDeliverable, receiveWebhook } from '../shop/payments/webhook.ts'
import { webhookData } from './answers/service.ts'
import { route } from './route.ts'

export const webhookRoutes = [
  route({
    method: 'POST',
    path: '/webhooks/stripe',
    summary: "Receive Stripe's webhooks",
    answers: [{ data: webhookData }],
    refuses: ['WEBHOOK_SIGNATURE_INVALID', 'CHECKOUT_GATEWAY_NOT_CONFIGURED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'none',
    nonce: 'never',
    proxy: null,
    crossSite: 'allowed',
    invalid: 422,
    bodyLimitBytes: 256 * 1024,
    gate: ({ shop, request }) => assertDeliverable(shop, request.headers.get('stripe-signature')),
    handler: async ({ shop, request }, { raw }) => {
      await receiveWebhook(shop, Buffer.from(raw).toString('utf8'), request.headers.get('stripe-signature'))
      return { data: { received: true } }
    }
  })
]
