import type Stripe from 'stripe'
import { AppError } from '../errors.ts'

/** The version that every request and every expectation of this code is written for; it moves with stripe-node alone. */
export const stripeApiVersion = '2026-10-28.endive' as const

export type StripeClientOptions = {
  secretKey: string
  /** Another origin than Stripe's own: https, or http on loopback. */
  apiBase?: string
  /** The stand-in's transport. */
  httpClient?: Stripe.HttpClient
  timeoutMs?: number
  maxNetworkRetries?: number
}

/**
 * A client of Stripe's API. stripe-node takes 100 ms to load, so it is loaded here and not with the program.
 * Its errors carry the whole answer, client secrets included: copy named fields from them, never log or return one.
 */
export async function createStripeClient(options: StripeClientOptions): Promise<Stripe> {
  const { default: StripeNode } = await import('stripe')
  return new StripeNode(options.secretKey, {
    apiVersion: stripeApiVersion,
    telemetry: false,
    maxNetworkRetries: options.maxNetworkRetries ?? 2,
    timeout: options.timeoutMs ?? 10_000,
    appInfo: { name: 'Shopstead' },
    ...(options.httpClient ? { httpClient: options.httpClient } : {}),
    ...(options.apiBase === undefined ? {} : parseApiBase(options.apiBase))
  })
}

/** Reads SHOPSTEAD_STRIPE_API_BASE; throws CONFIG_INVALID for what is no origin, or would send the key in the clear. */
export function parseApiBase(apiBase: string): { host: string; port: number; protocol: 'http' | 'https' } {
  const url = URL.canParse(apiBase) ? new URL(apiBase) : undefined
  const isOrigin = url && url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  if (!url || !isOrigin || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError('CONFIG_INVALID', 'SHOPSTEAD_STRIPE_API_BASE takes an origin such as https://api.stripe.com.')
  }
  const secure = url.protocol === 'https:'
  if (!secure && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) {
    throw new AppError('CONFIG_INVALID', 'SHOPSTEAD_STRIPE_API_BASE may use http on loopback only.')
  }
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, protocol: secure ? 'https' : 'http' }
}
