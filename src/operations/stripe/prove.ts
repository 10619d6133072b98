import type Stripe from 'stripe'
import type { ShopContext } from '../../shop/context.ts'
import { readGatewayError } from '../../shop/payments/gateway-failure.ts'
import { makeRoundTrip, whyUnreachable } from './round-trip.ts'
import type { Arrival } from './round-trip.ts'

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
