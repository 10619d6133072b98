import type Stripe from 'stripe'
import { AppError } from '../errors.ts'
import { isLoopback } from './http/cross-site.ts'

/** The API version of every request. It changes only together with stripe-node. */
export const stripeApiVersion = '2026-10-28.endive' as const

export type StripeClientOptions = {
  secretKey: string
  /** Another origin than Stripe's: https, or http on this machine. */
  apiBase?: string
  /** The sandbox's transport. */
  httpClient?: Stripe.HttpClient
  timeoutMs?: number
  maxNetworkRetries?: number
  /** The pause before the first retry; each further pause is twice as long. 500 ms by default. */
  retryDelayMs?: number | undefined
}

/**
 * Creates a client of Stripe's API. stripe-node takes 100 ms to load, so the first call loads it. Its errors contain
 * Stripe's whole answer, including client secrets: copy named fields from them, and never log or return them.
 *
 * @throws AppError CONFIG_INVALID for an invalid `apiBase`
 */
export async function createStripeClient(options: StripeClientOptions): Promise<Stripe> {
  const { default: StripeNode } = await import('stripe')
  const stripe = new StripeNode(options.secretKey, {
    apiVersion: stripeApiVersion,
    telemetry: false,
    maxNetworkRetries: options.maxNetworkRetries ?? 2,
    timeout: options.timeoutMs ?? 10_000,
    appInfo: { name: 'Shopstead' },
    ...(options.httpClient ? { httpClient: options.httpClient } : {}),
    ...(options.apiBase === undefined ? {} : parseApiBase(options.apiBase))
  })
  const { retryDelayMs } = options
  // stripe-node has no setting for it.
  if (retryDelayMs !== undefined) stripe.getInitialNetworkRetryDelay = () => retryDelayMs / 1000
  return stripe
}

/**
 * Parses SHOPSTEAD_STRIPE_API_BASE.
 *
 * @throws AppError CONFIG_INVALID for a value that is not an origin, or that would send the key unencrypted
 */
export function parseApiBase(apiBase: string): { host: string; port: number; protocol: 'http' | 'https' } {
  const url = URL.canParse(apiBase) ? new URL(apiBase) : undefined
  const isOrigin = url && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  if (!url || !isOrigin || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError('CONFIG_INVALID', 'SHOPSTEAD_STRIPE_API_BASE must be an origin such as https://api.stripe.com.')
  }
  const secure = url.protocol === 'https:'
  if (!secure && !isLoopback(url)) {
    throw new AppError(
      'CONFIG_INVALID',
      'SHOPSTEAD_STRIPE_API_BASE must use https, except for an address of this machine.'
    )
  }
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, protocol: secure ? 'https' : 'http' }
}
