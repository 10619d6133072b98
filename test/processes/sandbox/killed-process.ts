import { createStripeClient } from '../../../src/platform/stripe-client.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'

// Run as a process of its own by killed-process.test.ts: pays once under a key, on the sandbox file that is its argument.
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
