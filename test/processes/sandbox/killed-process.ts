import { createStripeClient } from '../../../src/platform/stripe-client.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'

// A separate process of killed-process.test.ts. Pays once; arguments: the sandbox's file and the idempotency key.
const sandbox = createSandbox({
  file: process.argv[2] ?? '',
  publicUrl: () => 'http://shop.test',
  clock: { now: () => Date.now() },
  webhookSecret: 'whsec_test',
  deliver: async () => ({ status: 503 }),
  log: { warn: () => undefined }
})
const stripe = await createStripeClient({ secretKey: 'sk_test_x', httpClient: sandbox.httpClient })
const paid = await stripe.paymentIntents.create(
  { amount: 900, currency: 'eur', confirm: true, payment_method: 'pm_card_visa', return_url: 'http://front.test/' },
  { idempotencyKey: process.argv[3] ?? '' }
)
process.stdout.write(paid.id)
sandbox.close()
