import { join } from 'node:path'
import type Stripe from 'stripe'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { serveSandbox } from '../../src/sandbox/http/socket.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type StripeAccount = {
  sandbox: Sandbox
  stripe: Stripe
  /** The environment of a shop that uses this account. */
  env: Record<string, string>
}

/**
 * A Stripe account at an address of its own, as a shop with `SHOPSTEAD_PAYMENTS=stripe` sees it: the API over HTTP, and
 * webhooks posted to the URL of each webhook endpoint. It has no endpoint at first.
 */
export async function openStripeAccount(
  options: Partial<SandboxOptions> = {},
  onEnd: (end: () => Promise<void> | void) => void = onTestFinished
): Promise<StripeAccount> {
  const sandbox = createSandbox({
    file: join(temporaryFolder(onEnd), 'sandbox.db'),
    publicUrl: () => 'http://stripe.test',
    clock: systemClock,
    webhookSecret: 'whsec_unused',
    webhookEndpoint: false,
    deliver: (body, headers, url) => fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(10_000) }),
    log: { warn: () => undefined },
    ...options
  })
  const { origin, close } = await serveSandbox(sandbox)
  sandbox.start()
  onEnd(async () => {
    await close()
    sandbox.close()
  })
  const secretKey = 'sk_test_account'
  return {
    sandbox,
    stripe: await createStripeClient({ secretKey, httpClient: sandbox.httpClient }),
    env: {
      SHOPSTEAD_PAYMENTS: 'stripe',
      SHOPSTEAD_STRIPE_SECRET_KEY: secretKey,
      SHOPSTEAD_STRIPE_API_BASE: origin
    }
  }
}
