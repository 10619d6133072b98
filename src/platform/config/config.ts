import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { isLoopback, isPrivate } from '../http/cross-site.ts'
import { replicaAddress, replicaVariables } from './replica.ts'
import type { Replica } from './replica.ts'

export const environments = ['development', 'test', 'production'] as const
export type Environment = (typeof environments)[number]
const gateways = ['stripe', 'sandbox', 'manual'] as const
export type PaymentGateway = (typeof gateways)[number]
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** How this installation is deployed. Values that an operator changes while the shop runs are settings instead. */
export type Config = {
  env: Environment
  host: string
  /** 0 for any free port. */
  port: number
  https: boolean
  /** The origin that browsers open, without a trailing slash; null derives it from the port (development only). */
  publicUrl: string | null
  /** Whether the public URL may be http in production. */
  allowHttp: boolean
  dataDir: string
  apiPrefix: string
  origins: string[]
  trustedProxies: string[]
  payments: PaymentGateway[]
  stripe: {
    secretKey: string | null
    publishableKey: string | null
    webhookSecret: string | null
    apiBase: string | null
  }
  /** Where VIES answers; null for the sandbox's stand-in, without which it is VIES itself. */
  viesBase: string | null
  smtpUrl: string | null
  mailFrom: string
  /** From the environment; null to use data/secret.key. */
  secret: string | null
  /** The id of the shop that the data folder must have; null for any. */
  shopId: string | null
  log: LogLevel
  /** The port of the Prometheus metrics, for this machine only; null for none. */
  metricsPort: number | null
  /** Where Litestream copies the database to; null for none that the shop knows of. */
  replica: Replica | null
  /** How often a machine that follows the replica looks at it. */
  followSeconds: number
  /** The environment of Litestream: where programs are, and the credentials of the replica. */
  litestreamEnv: Readonly<Record<string, string>>
  /** Whether to show the demo storefront; null uses the setting. */
  storefront: boolean | null
}

/** Where VIES answers, the register of VAT ids of the EU. */
export const viesBase = 'https://ec.europa.eu/taxation_customs/vies/rest-api'

/** The command-line flags that override the environment. */
export type ConfigFlags = {
  host?: string | undefined
  port?: string | undefined
  https?: boolean | undefined
  dataDir?: string | undefined
  storefront?: boolean | undefined
  /** The value of SHOPSTEAD_ENV if it is not set. Default: development. */
  defaultEnv?: Environment | undefined
}

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
)

const variables = {
  SHOPSTEAD_ENV: z.enum(environments, 'development, test or production').optional(),
  SHOPSTEAD_HOST: z.string().min(1).default('127.0.0.1'),
  SHOPSTEAD_PORT: port().default(3000),
  SHOPSTEAD_METRICS_PORT: port().optional(),
  SHOPSTEAD_PUBLIC_URL: z.string().transform(publicUrl).optional(),
  SHOPSTEAD_ALLOW_HTTP: z.enum(['true', 'false'], 'true or false').default('false'),
  SHOPSTEAD_DATA_DIR: z.string().min(1).default('data'),
  SHOPSTEAD_API_PREFIX: z
    .string()
    .regex(/^(\/[A-Za-z0-9_-]+)*\/v1$/, 'a path of letters, digits, - and _ that ends in /v1')
    .default('/api/v1'),
  SHOPSTEAD_ORIGINS: list.pipe(z.array(z.string().transform(origin))).default([]),
  SHOPSTEAD_TRUSTED_PROXIES: list
    .pipe(
      z.array(
        z.string().refine(isAddressOrRange, 'a comma-separated list of IP addresses or ranges such as 10.0.0.0/8')
      )
    )
    .default([]),
  SHOPSTEAD_PAYMENTS: list
    .pipe(z.array(z.enum(gateways, 'a comma-separated list of stripe, sandbox and manual')).min(1))
    .optional(),
  SHOPSTEAD_STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_(test|live)_[A-Za-z0-9]+$/, 'a Stripe secret key: sk_test_…, sk_live_…, rk_test_… or rk_live_…')
    .optional(),
  SHOPSTEAD_STRIPE_PUBLISHABLE_KEY: z
    .string()
    .regex(/^pk_(test|live)_[A-Za-z0-9]+$/, 'a Stripe publishable key: pk_test_… or pk_live_…')
    .optional(),
  SHOPSTEAD_STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(
      /^whsec_[A-Za-z0-9+/=_-]+$/,
      "the signing secret of Stripe's webhook endpoint: whsec_… (its id, we_…, is not the secret)"
    )
    .optional(),
  SHOPSTEAD_STRIPE_API_BASE: z.string().transform(stripeApiBase).optional(),
  SHOPSTEAD_VIES_API_BASE: z.string().transform(viesApiBase).optional(),
  SHOPSTEAD_SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/[^\s/]+/, 'smtp://user:password@host:port or smtps://…')
    .optional(),
  SHOPSTEAD_MAIL_FROM: z
    .string()
    .regex(/^[^\r\n@]*[^\s@<>]@[^\s@<>]+>?$/, 'an address such as shop@example.com or Shop <shop@example.com>')
    .default('shop@localhost'),
  SHOPSTEAD_SHOP_ID: z
    .string()
    .regex(/^[0-9a-f]{16}$/, '16 hex digits, as "shopstead init" printed them')
    .optional(),
  SHOPSTEAD_SECRET: z.string().min(32, 'at least 32 characters').optional(),
  SHOPSTEAD_REPLICA: replicaAddress().optional(),
  SHOPSTEAD_FOLLOW_SECONDS: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'a number of seconds from 1 to 9999')
    .transform(Number)
    .default(30),
  [replicaVariables.accessKeyId]: unquoted().optional(),
  [replicaVariables.secretAccessKey]: unquoted().optional(),
  [replicaVariables.keyFile]: unquoted().startsWith('/', 'an absolute path').optional(),
  SHOPSTEAD_LOG: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'debug, info, warn, error or silent')
    .default('info')
}

const environmentSchema = z.object(variables)

/**
 * Reads the configuration from environment variables; flags override them. An empty variable counts as absent.
 *
 * @throws AppError CONFIG_INVALID with one line that names the variable and what it accepts, but not its value
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>, flags: ConfigFlags = {}): Config {
  const values = Object.fromEntries(
    Object.keys(variables).map((name) => [name, env[name] === '' ? undefined : env[name]?.trim()])
  )
  if (flags.host !== undefined) values.SHOPSTEAD_HOST = flags.host
  if (flags.port !== undefined) values.SHOPSTEAD_PORT = flags.port
  if (flags.dataDir !== undefined) values.SHOPSTEAD_DATA_DIR = flags.dataDir
  const parsed = environmentSchema.safeParse(values)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(String(issue?.path[0] ?? 'SHOPSTEAD_*'), issue?.message ?? 'a valid value')
  }
  return checkTogether({ ...toConfig(parsed.data, flags), litestreamEnv: litestreamEnv(env) })
}

/** What a program of the shop's user finds by itself (PATH, HOME and AWS's own variables), and the credentials. */
function litestreamEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = new Set<string>(['PATH', 'HOME', ...Object.values(replicaVariables)])
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value = '']) =>
      value !== '' && (names.has(name) || name.startsWith('AWS_')) ? [[name, value]] : []
    )
  )
}

function toConfig(values: z.infer<typeof environmentSchema>, flags: ConfigFlags): Omit<Config, 'litestreamEnv'> {
  const env = values.SHOPSTEAD_ENV ?? flags.defaultEnv ?? 'development'
  return {
    env,
    host: values.SHOPSTEAD_HOST,
    port: values.SHOPSTEAD_PORT,
    https: flags.https ?? false,
    publicUrl: values.SHOPSTEAD_PUBLIC_URL ?? null,
    allowHttp: values.SHOPSTEAD_ALLOW_HTTP === 'true',
    dataDir: resolve(values.SHOPSTEAD_DATA_DIR),
    apiPrefix: values.SHOPSTEAD_API_PREFIX,
    origins: values.SHOPSTEAD_ORIGINS,
    trustedProxies: values.SHOPSTEAD_TRUSTED_PROXIES,
    payments: [...new Set(values.SHOPSTEAD_PAYMENTS ?? [defaultGateway(env)])],
    stripe: {
      secretKey: values.SHOPSTEAD_STRIPE_SECRET_KEY ?? null,
      publishableKey: values.SHOPSTEAD_STRIPE_PUBLISHABLE_KEY ?? null,
      webhookSecret: values.SHOPSTEAD_STRIPE_WEBHOOK_SECRET ?? null,
      apiBase: values.SHOPSTEAD_STRIPE_API_BASE ?? null
    },
    viesBase: values.SHOPSTEAD_VIES_API_BASE ?? null,
    smtpUrl: values.SHOPSTEAD_SMTP_URL ?? null,
    mailFrom: values.SHOPSTEAD_MAIL_FROM,
    shopId: values.SHOPSTEAD_SHOP_ID ?? null,
    secret: values.SHOPSTEAD_SECRET ?? null,
    metricsPort: values.SHOPSTEAD_METRICS_PORT ?? null,
    log: values.SHOPSTEAD_LOG,
    replica: values.SHOPSTEAD_REPLICA ?? null,
    followSeconds: values.SHOPSTEAD_FOLLOW_SECONDS,
    storefront: flags.storefront ?? null
  }
}

function defaultGateway(env: Environment): PaymentGateway {
  return env === 'production' ? 'stripe' : 'sandbox'
}

/** The rules that involve several variables. @throws AppError CONFIG_INVALID */
function checkTogether(config: Config): Config {
  if (config.payments.includes('stripe') && config.payments.includes('sandbox')) {
    throw invalid('SHOPSTEAD_PAYMENTS', 'stripe or sandbox, not both')
  }
  const live = /^(sk|rk)_live_/.test(config.stripe.secretKey ?? '')
  if (live && config.env !== 'production') {
    throw invalid('SHOPSTEAD_STRIPE_SECRET_KEY', 'a test key (sk_test_…) outside production; this is a live key')
  }
  const { publishableKey } = config.stripe
  if (publishableKey !== null && publishableKey.startsWith('pk_live_') !== live) {
    throw invalid('SHOPSTEAD_STRIPE_PUBLISHABLE_KEY', 'a key of the same mode, test or live, as the secret key')
  }
  return config
}

/** Checks what only a server needs; other commands run without it. @throws AppError CONFIG_INVALID */
export function checkServes(config: Config): void {
  if (config.env !== 'production') return
  if (config.publicUrl === null) {
    throw invalid('SHOPSTEAD_PUBLIC_URL', 'set in production, to the address that browsers open')
  }
  if (config.publicUrl.startsWith('http:') && !isLoopback(new URL(config.publicUrl)) && !config.allowHttp) {
    throw invalid('SHOPSTEAD_PUBLIC_URL', 'an https origin in production, unless SHOPSTEAD_ALLOW_HTTP is true')
  }
  if (config.payments.includes('sandbox')) {
    throw invalid('SHOPSTEAD_PAYMENTS', 'stripe or manual in production; the sandbox does not charge cards')
  }
}

/** CONFIG_INVALID with the message "VARIABLE must be RULE." */
export function invalid(variable: string, rule: string): AppError {
  return new AppError('CONFIG_INVALID', `${variable} must be ${rule}.`, { variable })
}

/** For a value between quotes in Litestream's configuration. */
function unquoted() {
  return z.string().regex(/^[^'\s]+$/, 'a value without quotes and spaces')
}

function port() {
  return z
    .string()
    .regex(/^\d{1,5}$/, portRule())
    .transform(Number)
    .refine((number) => number <= 65_535, portRule())
}

function portRule(): string {
  return 'a port from 0 to 65535 (0 for any free one)'
}

function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return undefined
  return url
}

function publicUrl(text: string, context: z.RefinementCtx): string {
  const url = httpUrl(text)
  if (url === undefined || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    context.addIssue('an http or https origin such as https://shop.example.com, without a path')
    return z.NEVER
  }
  return url.origin
}

function origin(text: string, context: z.RefinementCtx): string {
  const url = httpUrl(text)
  if (url === undefined || url.pathname !== '/' || url.search !== '') {
    context.addIssue('a comma-separated list of origins such as https://www.example.com')
    return z.NEVER
  }
  return url.origin
}

function stripeApiBase(text: string, context: z.RefinementCtx): string {
  const url = httpUrl(text)
  if (url === undefined || !isPrivate(url)) {
    context.addIssue('an https origin, or an http origin on this machine')
    return z.NEVER
  }
  return url.origin
}

function viesApiBase(text: string, context: z.RefinementCtx): string {
  const url = httpUrl(text)
  if (url === undefined || !isPrivate(url) || url.search !== '' || url.hash !== '') {
    context.addIssue(`an https address such as ${viesBase}, or an http address on this machine`)
    return z.NEVER
  }
  return url.href.replace(/\/$/, '')
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
