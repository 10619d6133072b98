import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stripe } from 'stripe'
import { createStripeClient } from '../../src/platform/stripe-client.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts'

export const webhookSecret = 'whsec_sandbox_test'
export const publicUrl = 'http://shop.test'

export type Bench = {
  sandbox: Sandbox
  stripe: Stripe
  /** The events that the shop's webhook received, in order, each verified by stripe-node. */
  received: Stripe.Event[]
  file: string
  /** Moves the sandbox's clock, which otherwise does not move. */
  advance: (ms: number) => void
  now: () => number
  /** The status that the shop's webhook answers with. */
  answer: { status: number }
  page: (path: string, form?: Record<string, string>) => Promise<Response>
  close: () => void
}

/** Opens a sandbox on a file of its own, with stripe-node in process and a webhook that only records events. */
export async function createBench(options: Partial<SandboxOptions> = {}): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-sandbox-'))
  const file = options.file ?? join(folder, 'sandbox.db')
  const received: Stripe.Event[] = []
  const answer = { status: 200 }
  let nowMs = Date.now()
  const sandbox = createSandbox({
    file,
    publicUrl: () => publicUrl,
    clock: { now: () => nowMs },
    webhookSecret,
    deliver: async (body, headers) => {
      const signature = headers['stripe-signature'] ?? ''
      received.push(Stripe.webhooks.constructEvent(body, signature, webhookSecret, 300, undefined, nowMs))
      return answer
    },
    log: { warn: () => undefined },
    ...options
  })
  const stripe = await createStripeClient({
    secretKey: 'sk_test_sandbox',
    httpClient: sandbox.httpClient,
    timeoutMs: 2_000,
    retryDelayMs: 10
  })
  return {
    sandbox,
    stripe,
    received,
    file,
    answer,
    advance: (ms) => (nowMs += ms),
    now: () => nowMs,
    page: async (path, form) => {
      const url = new URL(path, publicUrl)
      const request = form ? new Request(url, { method: 'POST', body: new URLSearchParams(form) }) : new Request(url)
      const response = await sandbox.pages(request)
      if (!response) throw new Error(`The sandbox has no page at ${url.pathname}.`)
      return response
    },
    close: () => {
      sandbox.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The parameters of a session of 2 × 12.50 EUR for order 7, with the fields that the shop sends. */
export function sessionParams(
  overrides: Partial<Stripe.Checkout.SessionCreateParams> = {}
): Stripe.Checkout.SessionCreateParams {
  return {
    mode: 'payment',
    line_items: [
      { price_data: { currency: 'eur', unit_amount: 1250, product_data: { name: 'Lantern <small>' } }, quantity: 2 }
    ],
    customer_email: 'lena@shop.example',
    client_reference_id: '7',
    metadata: { order_id: '7' },
    payment_intent_data: { metadata: { order_id: '7' } },
    success_url: 'http://front.test/done?orderId=7&result=success',
    cancel_url: 'http://front.test/cart',
    ...overrides
  }
}

/** The error of a request that must be refused. Throws if it succeeds. */
export async function refusalOf(request: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await request
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error
    throw error
  }
  throw new Error('The request was not refused.')
}
