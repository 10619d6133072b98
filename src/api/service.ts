import { AppError } from '../errors.ts'
import type { Db } from '../platform/db/database.ts'
import { buildFlavor, buildId, packageVersion } from '../platform/package-root.ts'
import type { ShopContext } from '../shop/context.ts'
import { isModuleOn } from '../shop/settings/settings.ts'
import { byName, healthModules } from '../shop/settings/modules.ts'
import { z } from 'zod'
import { healthData, webhookData } from './answers/service.ts'
import { route } from './route.ts'
import { assertDeliverable, receiveWebhook } from '../shop/payments/webhook.ts'

const fingerprint = {
  version: packageVersion(),
  buildId: buildId(),
  buildFlavor,
  nonceBootstrapStrategy: 'stateless-hmac'
}

export const healthRoutes = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Service status',
    answers: [{ data: healthData }],
    refuses: ['METHOD_NOT_ALLOWED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    invalid: 400,
    handler: ({ shop }) => ({ data: healthOf(shop) })
  })
]

function healthOf({ config, db }: ShopContext) {
  return {
    status: 'ok',
    version: fingerprint.version,
    env: config.env,
    wpVersion: 'n/a',
    phpVersion: 'n/a',
    dependencies: dependencies(db),
    buildId: fingerprint.buildId,
    buildFlavor: fingerprint.buildFlavor,
    nonceBootstrapStrategy: fingerprint.nonceBootstrapStrategy
  }
}

/** Reading the modules queries the database, so this also checks that the database answers. */
function dependencies(db: Db) {
  try {
    return byName(healthModules, (name) => (isModuleOn(db, name) ? 'active' : 'missing'))
  } catch (cause) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.', {}, { cause })
  }
}

/** The fields that an event of Stripe always has. The body is read as bytes, because the signature is of the bytes. */
const stripeEvent = z
  .looseObject({
    id: z.string().meta({ example: 'evt_1QpT3xLkdIwHu7ix' }),
    object: z.enum(['event', 'v2.core.event']).meta({ description: 'v2.core.event for a thin event.' }),
    type: z
      .string()
      .meta({ description: 'Events of an unknown type are stored.', example: 'checkout.session.completed' })
  })
  .meta({ description: 'An event of Stripe, with its data or thin.' })

export const webhookRoutes = [
  route({
    method: 'POST',
    path: '/webhooks/stripe',
    summary: "Receive Stripe's webhooks",
    headers: z.object({
      'Stripe-Signature': z.string().meta({
        description: "Stripe's signature of the body (docs.stripe.com/webhooks#verify-events).",
        example: 't=1773480413,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'
      })
    }),
    rawBody: stripeEvent,
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
