import { hash } from 'node:crypto'
import type Stripe from 'stripe'
import { AppError } from '../../errors.ts'
import { stripeApiVersion } from '../../platform/stripe-client.ts'
import type { ShopContext } from '../../shop/context.ts'
import { handledTypes } from '../../shop/payments/gateway-state.ts'
import { readGatewayError, readyGateway } from '../../shop/payments/gateway.ts'
import { prove } from './prove.ts'
import type { Proof } from './prove.ts'

type SetupOptions = {
  /** The address of the endpoint, or only its origin; by default the shop's own. */
  url?: string | undefined
  /** Makes a new endpoint, because Stripe does not show a secret again. */
  newSecret?: boolean
  /** How long to wait for Stripe's delivery. */
  waitMs: number
  onStep: (text: string) => void
}

export type Setup = {
  url: string
  livemode: boolean
  action: 'created' | 'updated' | 'unchanged'
  endpoint: Stripe.WebhookEndpoint
  /** Only for an endpoint that was just created. */
  secret: string | null
  /** Ids of older endpoints at this address: those disabled now, and those that still deliver. */
  disabled: string[]
  stillEnabled: string[]
  proof: Proof
}

/** An endpoint that is in place, and its secret as far as it is known. */
type InPlace = Pick<Setup, 'action' | 'endpoint' | 'secret'>

/** The endpoint's metadata holds a hash of its secret, which tells later whether a secret is this endpoint's. */
const fingerprintName = 'shopstead_secret_hash'
const fingerprintOf = (secret: string): string => hash('sha256', secret, 'hex').slice(0, 16)

/**
 * Makes or repairs the webhook endpoint at Stripe and proves it by a delivery. Stripe cannot change an endpoint's API
 * version, so an endpoint at another version is replaced: the older one delivers until the server accepts the deliveries
 * of the new one, and is disabled by the next run after that. No event is lost in between.
 *
 * @throws AppError CHECKOUT_GATEWAY_NOT_CONFIGURED, CONFLICT in a sandbox or when Stripe refuses, USAGE without an
 *   address, DEPENDENCY_UNAVAILABLE when Stripe does not answer or refuses the key
 */
export async function setUpStripe(shop: ShopContext, options: SetupOptions): Promise<Setup> {
  if (shop.cards?.name !== 'stripe')
    throw new AppError('CONFLICT', 'This shop does not use Stripe itself: set SHOPSTEAD_PAYMENTS=stripe first.')
  const { client, livemode, webhookSecret } = readyGateway(shop)
  const url = parseAddress(shop, options.url)
  const stripe = await client()
  options.onStep("reading Stripe's webhook endpoints")
  const known = await asked(findEndpoints(stripe, url))
  const inPlace = await asked(putInPlace(shop, stripe, { url, known, isNew: options.newSecret ?? false }))
  const { endpoint, secret } = inPlace
  const others = known.filter(({ id, status }) => id !== endpoint.id && status === 'enabled')
  const fingerprint = endpoint.metadata[fingerprintName]
  options.onStep("waiting for Stripe's delivery")
  const proof = await prove(shop, stripe, {
    url,
    secret: secret ?? webhookSecret,
    isForeignSecret: secret === null && isForeign(webhookSecret, fingerprint),
    isCreated: inPlace.action === 'created',
    others: others.length,
    waitMs: options.waitMs
  })
  const isCertain = fingerprint !== undefined && proof.result === 'proven' && webhookSecret !== undefined
  const disabled = isCertain ? await disable(stripe, others) : []
  const stillEnabled = others.map(({ id }) => id).filter((id) => !disabled.includes(id))
  return { url, livemode, ...inPlace, disabled, stillEnabled, proof }
}

function isForeign(secret: string | undefined, fingerprint: string | undefined): boolean {
  return secret !== undefined && fingerprint !== undefined && fingerprint !== fingerprintOf(secret)
}

/** @throws AppError USAGE */
function parseAddress(shop: ShopContext, address: string | undefined): string {
  if (address === undefined) {
    if (shop.config.publicUrl !== null) return webhookUrlOf(shop)
    throw new AppError('USAGE', 'Set SHOPSTEAD_PUBLIC_URL, or pass the address of the shop with --url.')
  }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new AppError('USAGE', '--url takes an address such as https://shop.example.')
  return url.pathname === '/' ? webhookUrlOf({ config: shop.config, publicUrl: () => url.origin }) : url.href
}

/** Finds the newest endpoint at the pinned API version and repairs it, or makes one. */
async function putInPlace(
  shop: ShopContext,
  stripe: Stripe,
  { url, known, isNew }: { url: string; known: readonly Stripe.WebhookEndpoint[]; isNew: boolean }
): Promise<InPlace> {
  const pinned = known.filter(hasPinnedVersion)
  const found = isNew ? undefined : (pinned.find(({ status }) => status === 'enabled') ?? pinned[0])
  if (found === undefined) return create(shop, stripe, url)
  const missing = missingTypes(found)
  if (missing.length === 0 && found.status === 'enabled') return { action: 'unchanged', endpoint: found, secret: null }
  const enabled = [...found.enabled_events, ...missing] as Stripe.WebhookEndpointUpdateParams.EnabledEvent[]
  const endpoint = await stripe.webhookEndpoints.update(found.id, { enabled_events: enabled, disabled: false })
  return { action: 'updated', endpoint, secret: null }
}

async function create({ keys }: ShopContext, stripe: Stripe, url: string): Promise<InPlace> {
  const { secret = null, ...endpoint } = await stripe.webhookEndpoints.create({
    url,
    enabled_events: [...handledTypes],
    api_version: stripeApiVersion,
    description: 'Shopstead',
    metadata: { shopstead_shop: keys.shopId }
  })
  if (secret === null) return { action: 'created', endpoint, secret }
  // Without the hash the endpoint works as well, and the secret must not be lost.
  const metadata = { [fingerprintName]: fingerprintOf(secret) }
  const marked = await stripe.webhookEndpoints.update(endpoint.id, { metadata }).catch(() => endpoint)
  return { action: 'created', endpoint: marked, secret }
}

/** Disables endpoints and returns the ids of those that Stripe disabled; the next run tries the others again. */
async function disable(stripe: Stripe, endpoints: readonly Stripe.WebhookEndpoint[]): Promise<string[]> {
  const disabled: string[] = []
  for (const { id } of endpoints) {
    const changed = await stripe.webhookEndpoints.update(id, { disabled: true }).catch(() => undefined)
    if (changed !== undefined) disabled.push(id)
  }
  return disabled
}

/** Turns the gateway's error into what an operator can act on. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const { answered, temporary, error: why } = readGatewayError(error)
    const reason = why.message || why.code || why.type
    if (!answered || temporary)
      throw new AppError(
        'DEPENDENCY_UNAVAILABLE',
        `Stripe did not accept the request: ${reason}. Check SHOPSTEAD_STRIPE_SECRET_KEY, whether the key may write webhook endpoints, and the network.`
      )
    throw new AppError('CONFLICT', `Stripe refused the webhook endpoint: ${reason}`)
  }
}

/** The address at which the shop takes Stripe's webhooks. */
export function webhookUrlOf({ config, publicUrl }: Pick<ShopContext, 'config' | 'publicUrl'>): string {
  return `${publicUrl()}${config.apiPrefix}/webhooks/stripe`
}

/** The webhook endpoints of the account that deliver to an address, whatever their query is, newest first. */
export async function findEndpoints(
  stripe: Stripe,
  url: string,
  options: Stripe.RequestOptions = {}
): Promise<Stripe.WebhookEndpoint[]> {
  // Stripe allows 16 endpoints in each mode, and lists up to 100 in one response.
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 }, options)
  const path = pathOf(url)
  return data.filter((endpoint) => pathOf(endpoint.url) === path)
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Whether Stripe renders the endpoint's events at the API version that this code is written for. */
export function hasPinnedVersion({ api_version }: Pick<Stripe.WebhookEndpoint, 'api_version'>): boolean {
  return api_version === stripeApiVersion
}

/** The event types that the shop handles and the endpoint does not subscribe to. */
export function missingTypes({ enabled_events }: Pick<Stripe.WebhookEndpoint, 'enabled_events'>) {
  return handledTypes.filter((type) => !enabled_events.some((enabled) => enabled === '*' || enabled === type))
}
