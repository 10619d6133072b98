import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { z } from 'zod'
import { randomToken } from '../../platform/crypto/secrets.ts'
import { minimumChargeMinor } from '../../platform/money.ts'
import type { ShopContext } from '../../shop/context.ts'
import { readGatewayError } from '../../shop/payments/gateway.ts'
import type { ProbeDelivery } from '../../shop/payments/schema.ts'
import { closeProbe, openProbe, probeDeliveries } from '../../shop/payments/webhook.ts'
import { setting } from '../../shop/settings/settings.ts'

/**
 * What a round trip showed. `proven`: the running server accepts the endpoint's deliveries. `not_in_use`: they arrive and
 * the secret is right, but the server runs with another one. `part` names what failed.
 */
export type Proof = {
  result: 'proven' | 'not_in_use' | 'failed'
  part: 'stripe' | 'delivery' | 'url' | 'signature' | null
  message: string
}

type ProofOf = {
  url: string
  /** The endpoint's secret if it is known, otherwise the configured one. */
  secret: string | undefined
  /** The configured secret is another endpoint's. */
  isForeignSecret: boolean
  isCreated: boolean
  /** How many other enabled endpoints deliver to this address. */
  others: number
  waitMs: number
}

const unreadable = 'Stripe does not show a secret again: run "shopstead stripe setup --new-secret" for a new one.'

/** Proves an endpoint by a delivery through Stripe. It reports failures and does not throw. */
export async function prove(shop: ShopContext, stripe: Stripe, of: ProofOf): Promise<Proof> {
  try {
    const trip = { secret: of.isForeignSecret ? undefined : of.secret, endpoints: of.others + 1, waitMs: of.waitMs }
    const arrivals = await makeRoundTrip(shop, stripe, trip)
    return arrivals.length === 0 ? await notDelivered(of) : evaluate(of, arrivals)
  } catch (error) {
    const { message, code, type } = readGatewayError(error).error
    const reason = message || code || type || 'an unknown error'
    return failed('stripe', `Stripe refused the test object, a Checkout Session that expires immediately: ${reason}`)
  }
}

function evaluate({ secret, isForeignSecret, isCreated, others }: ProofOf, arrivals: readonly Arrival[]): Proof {
  const verified = arrivals.filter(({ isVerified }) => isVerified)
  if (verified.some(({ isAccepted }) => isAccepted)) return proven
  if (verified.length > 0) {
    const next = isCreated ? 'Set the secret and restart the server.' : 'Restart the server with this secret.'
    const message = `Stripe's delivery arrived and the secret is right, but the running server does not use it yet. ${next}`
    return { result: 'not_in_use', part: null, message }
  }
  if (isForeignSecret)
    return failed('signature', `SHOPSTEAD_STRIPE_WEBHOOK_SECRET is the secret of another endpoint. ${unreadable}`)
  if (secret === undefined) {
    // Only one endpoint delivers here, so what the server accepted is this endpoint's delivery.
    if (others === 0 && arrivals.some(({ isAccepted }) => isAccepted)) return proven
    const unknown =
      "Stripe's delivery arrived, but the server does not accept it, and this command does not know the secret."
    return failed('signature', `${unknown} Set SHOPSTEAD_STRIPE_WEBHOOK_SECRET. ${unreadable}`)
  }
  if (others > 0)
    return failed('delivery', "Deliveries of another endpoint at this address arrived, this endpoint's did not.")
  const wrong = isCreated ? 'the new secret' : 'SHOPSTEAD_STRIPE_WEBHOOK_SECRET'
  return failed('signature', `Stripe's delivery arrived, but ${wrong} did not sign it. ${unreadable}`)
}

const proven: Proof = {
  result: 'proven',
  part: null,
  message: "Stripe's delivery arrived, and the running server accepted its signature."
}

async function notDelivered({ url, waitMs }: ProofOf): Promise<Proof> {
  const seconds = Math.round(waitMs / 1000)
  const why = await whyUnreachable(url)
  if (why !== undefined)
    return failed(
      'url',
      `No delivery arrived in ${seconds} seconds, and ${url} does not reach the shop from this machine: ${why}. Start the server, and check DNS, the certificate and the web server in front of it.`
    )
  return failed(
    'delivery',
    `No delivery arrived in ${seconds} seconds, although ${url} answers on this machine. Check that the internet can reach it (DNS, firewall, certificate), and that the server uses this data folder. Stripe's dashboard shows each delivery of the endpoint.`
  )
}

function failed(part: Exclude<Proof['part'], null>, message: string): Proof {
  return { result: 'failed', part, message }
}

/** A delivery that arrived; `isVerified`: signed with the secret in question. */
type Arrival = { isVerified: boolean; isAccepted: boolean }

type RoundTrip = {
  /** The secret that the deliveries should be signed with; undefined when it is not known. */
  secret: string | undefined
  /** How many enabled endpoints deliver to this address. */
  endpoints: number
  waitMs: number
}

const lookEveryMs = 200

/**
 * Makes Stripe deliver an event to the shop: it creates a Checkout Session that is never shown, expires it, and waits for
 * `checkout.session.expired`. The server stores each delivery, also one that it refuses, because its own secret may be
 * another one. Nothing is charged.
 *
 * @returns what arrived, at the latest after `waitMs`
 * @throws the error of stripe-node when Stripe refuses the session
 */
async function makeRoundTrip(shop: ShopContext, stripe: Stripe, trip: RoundTrip): Promise<Arrival[]> {
  const token = `probe-${randomToken()}`
  await openProbe(shop, token)
  try {
    const { id } = await stripe.checkout.sessions.create(testSession(shop, token))
    await stripe.checkout.sessions.expire(id)
    const endsAt = performance.now() + trip.waitMs
    for (;;) {
      const arrivals = probeDeliveries(shop.db, token).map((delivery) => read(stripe, delivery, trip.secret))
      const isComplete = arrivals.some(({ isVerified }) => isVerified) || arrivals.length >= trip.endpoints
      if (isComplete || performance.now() >= endsAt) return arrivals
      await sleep(lookEveryMs)
    }
  } finally {
    await closeProbe(shop, token)
  }
}

function testSession({ db, publicUrl }: ShopContext, token: string): Stripe.Checkout.SessionCreateParams {
  const currency = setting(db, 'shop.currency')
  const unit_amount = Math.max(minimumChargeMinor(currency), 1_000)
  const price_data = { currency: currency.toLowerCase(), unit_amount, product_data: { name: 'Webhook test' } }
  return {
    mode: 'payment',
    line_items: [{ price_data, quantity: 1 }],
    metadata: { shopstead_probe: token },
    success_url: publicUrl()
  }
}

function read(stripe: Stripe, { body, signature, isAccepted }: ProbeDelivery, secret: string | undefined): Arrival {
  return { isAccepted, isVerified: secret !== undefined && isSignedWith(stripe, body, signature, secret) }
}

function isSignedWith(stripe: Stripe, body: string, signature: string, secret: string): boolean {
  try {
    stripe.webhooks.constructEvent(body, signature, secret)
    return true
  } catch {
    return false
  }
}

const shopAnswer = z.object({
  error: z.object({ code: z.enum(['WEBHOOK_SIGNATURE_INVALID', 'CHECKOUT_GATEWAY_NOT_CONFIGURED']) })
})

/** Why a post to the shop's webhook address does not reach the shop, as seen from this machine; undefined if it does. */
async function whyUnreachable(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: '{}',
      redirect: 'manual',
      signal: AbortSignal.timeout(5_000)
    })
    const isShop = shopAnswer.safeParse(await answer.json().catch(() => undefined)).success
    return isShop ? undefined : `it answers with status ${answer.status}, which is not the shop's answer`
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error ? cause.message : 'it does not answer'
  }
}
