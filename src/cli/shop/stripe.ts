import { AppError } from '../../errors.ts'
import { setUpStripe } from '../../operations/stripe/set-up.ts'
import type { Setup } from '../../operations/stripe/set-up.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'

type SetupFlags = { url?: string; newSecret?: boolean; wait: string }

export function define(program: ShopCommand): void {
  const group = program.command('stripe').description("the shop's Stripe account")
  const setup = addCommand(
    group,
    'setup',
    'make or repair the webhook endpoint at Stripe, print its secret once, and prove it by a delivery; safe to repeat',
    'stripe setup --url https://shop.example'
  )
    .option('--url <url>', 'address of the shop or of the endpoint (default: SHOPSTEAD_PUBLIC_URL)')
    .option('--new-secret', 'make a new endpoint with a new secret; the old one is disabled once the new one is in use')
    .option('--wait <seconds>', "how long to wait for Stripe's delivery, 1 to 300", '30')
  runs(setup, setUp)
}

async function setUp(work: Work<SetupFlags>): Promise<Answer> {
  const { app, options } = work
  const waitMs = parseSeconds(options.wait) * 1000
  const progress = showProgress(work)
  const { url, newSecret = false } = options
  const done = await setUpStripe(app, { url, newSecret, waitMs, onStep: progress.step }).finally(progress.done)
  const { endpoint, ...rest } = done
  const { id, status, api_version: apiVersion, enabled_events: enabledEvents } = endpoint
  return {
    json: { ...rest, endpoint: { id, status, apiVersion, enabledEvents } },
    human: toLines(done),
    exitCode: done.proof.result === 'failed' ? 1 : 0
  }
}

function toLines({ url, livemode, action, endpoint, secret, disabled, stillEnabled, proof }: Setup): string[] {
  const marks = { proven: 'Proven', not_in_use: 'Next step', failed: 'FAILED' }
  return [
    `Webhook endpoint ${endpoint.id}: ${action} (${livemode ? 'live' : 'test'} mode, API version ${endpoint.api_version}, ${endpoint.enabled_events.length} event types).`,
    `Address: ${url}`,
    ...(secret === null
      ? []
      : ['', 'Set this variable where the server reads its environment, then restart the server:']),
    ...(secret === null ? [] : [`SHOPSTEAD_STRIPE_WEBHOOK_SECRET=${secret}`]),
    ...(secret === null ? [] : ['The secret is not shown again.', '']),
    ...disabled.map((old) => `The older endpoint ${old} is disabled now.`),
    ...stillEnabled.map((old) => `The endpoint ${old} delivers to this address, too. ${nextFor(proof)}`),
    `${marks[proof.result]}: ${proof.message}`
  ]
}

function nextFor({ result }: Setup['proof']): string {
  return result === 'proven'
    ? "Disable it in Stripe's dashboard if nothing else needs it."
    : 'Run this command again after the restart: it disables the older endpoint once the server uses the new secret.'
}

/** @throws AppError USAGE */
function parseSeconds(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > 300) throw new AppError('USAGE', '--wait takes a whole number from 1 to 300.')
  return seconds
}
