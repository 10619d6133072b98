import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Stripe } from 'stripe'
import { backUp } from '../../../src/operations/backup/backups.ts'
import type { CheckResult } from '../../../src/operations/diagnosis/check.ts'
import { diagnose } from '../../../src/operations/diagnosis/diagnose.ts'
import { stripeApiVersion } from '../../../src/platform/stripe-client.ts'
import { handledTypes } from '../../../src/shop/payments/gateway-state.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { shopstead } from '../../support/command-line.ts'
import { startMailbox } from '../../support/mailbox.ts'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { openStripeAccount } from '../../support/stripe-account.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { draft, line, makeProduct, move, place } from '../../shop/orders/support.ts'
import { configOf, silent } from '../health-support.ts'
import type { Env } from '../health-support.ts'

/** A running shop with everything that an operator can break. */
export type BrokenShop = {
  /** The configuration that health reads; a break changes it, and `mend` undoes that. */
  env: Env
  readonly soundEnv: Env
  readonly dataDir: string
  shop: RunningShop
  readonly stripe: Stripe
  /** The web server in front: where it leads, and what it does to the answers. */
  front: { to: string; spoil: (answer: IncomingMessage) => void }
  /** Calls `end` after the last break. */
  readonly onEnd: (end: () => Promise<void> | void) => void
  start(): Promise<RunningShop>
}

const catalog = {
  products: [
    { slug: 'mug', name: 'Mug', price: '12.50' },
    { slug: 'guide', name: 'Guide', price: '9.00', type: 'digital', grants: [{ kind: 'download', file: 'guide.pdf' }] }
  ],
  shipping: [{ zone: 'Home', countries: ['DE'], methods: [{ id: 'parcel', name: 'Parcel', amount: '4.90' }] }]
}
const onePixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Listens on a free port of this machine until the end, and returns its address. */
export async function listen(onEnd: BrokenShop['onEnd'], handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens a shop in which every check is ok. */
export async function openSoundShop(onEnd: BrokenShop['onEnd']): Promise<BrokenShop> {
  const front: BrokenShop['front'] = { to: '', spoil: () => undefined }
  const publicUrl = await listen(onEnd, (request, response) => {
    const { method, headers, url } = request
    const passed = httpRequest(`${front.to}${url}`, { method, headers }, (answer) => {
      front.spoil(answer)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.writeHead(502).end())
    request.pipe(passed)
  })
  const account = await openStripeAccount({}, onEnd)
  const mailbox = await startMailbox({ login: { user: 'shop', password: 'right' } })
  onEnd(() => mailbox[Symbol.asyncDispose]())
  const dataDir = join(temporaryFolder(onEnd), 'data')
  const serverEnv = { ...account.env, SHOPSTEAD_PUBLIC_URL: publicUrl, SHOPSTEAD_STRIPE_WEBHOOK_SECRET: 'whsec_1' }
  const soundEnv = {
    ...serverEnv,
    SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1',
    SHOPSTEAD_SMTP_URL: mailbox.urlFor('shop', 'right')
  }
  const start = async (seed: object | null = null): Promise<RunningShop> => {
    const shop = await startShop({ dataDir, env: serverEnv, seed })
    front.to = shop.url
    return shop
  }
  const world: BrokenShop = {
    env: { ...soundEnv },
    soundEnv,
    dataDir,
    shop: await start(catalog),
    stripe: account.stripe,
    front,
    onEnd,
    start: () => start()
  }
  onEnd(() => world.shop.stop())
  await makeSound(world, publicUrl)
  return world
}

export const lawSettings = (['terms', 'withdrawal', 'privacy', 'imprint'] as const).map(
  (page) => `storefront.${page}Url` as const
)

async function makeSound({ shop, dataDir, stripe }: BrokenShop, publicUrl: string): Promise<void> {
  const { db } = shop.app
  for (const [key, value] of [
    ['registration.passwordMinLength', '15'],
    ['shop.legal', 'Tin Lantern Ltd'],
    ['shop.country', 'DE'],
    ['shop.legal.vatId', 'DE100000008'],
    ['tax.vies', 'on'],
    ...lawSettings.map((name) => [name, `https://shop.example/${name}`] as const),
    ['backup.schedule', '0 3 * * *'],
    ['backup.keep', '5']
  ] as const)
    setSetting(db, key, value, Date.now())
  // An invoice, which needs the address of the seller.
  move(db, place(db, draft([line(makeProduct(db))]), Date.now()).id, 'processing', {}, Date.now())
  mkdirSync(join(dataDir, 'downloads'), { mode: 0o700 })
  writeFileSync(join(dataDir, 'downloads', 'guide.pdf'), 'a guide')
  const picture = join(dataDir, '..', 'mug.png')
  writeFileSync(picture, Buffer.from(onePixel, 'base64'))
  await shopstead(dataDir, ['offers', 'images', 'add', 'mug', picture])
  await backUp(shop.app, 'scheduled')
  await stripe.webhookEndpoints.create(soundEndpoint(publicUrl))
}

export function soundEndpoint(publicUrl: string): Stripe.WebhookEndpointCreateParams {
  const url = `${publicUrl}/api/v1/webhooks/stripe`
  return { url, enabled_events: [...handledTypes], api_version: stripeApiVersion }
}

/** The checks of health that are not ok. */
export async function problemsOf({ dataDir, env }: Pick<BrokenShop, 'dataDir' | 'env'>): Promise<CheckResult[]> {
  const { checks } = await diagnose(configOf(dataDir, env), { log: silent, lockTimeoutMs: 300 })
  return checks.filter(({ status }) => status !== 'ok')
}

/** Runs the commands that an advice puts in quotation marks, in their order, and returns them. */
export async function follow({ dataDir, env }: Pick<BrokenShop, 'dataDir' | 'env'>, advice: string): Promise<string[]> {
  const commands = [...advice.matchAll(/"((?:shopstead|chmod|chown|rm) [^"]+)"/g)].map(([, command]) => command ?? '')
  for (const command of commands) {
    const [program, ...args] = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''))
    if (program === 'shopstead') await shopstead(dataDir, args, { env })
    else execFileSync(program ?? '', args)
  }
  return commands
}
