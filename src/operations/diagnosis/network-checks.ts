import { max } from 'drizzle-orm'
import type { App } from '../../app.ts'
import { sessionCookieName } from '../../shop/accounts/session-cookie.ts'
import { toIso } from '../../platform/iso-time.ts'
import { readStranger } from '../../platform/http/forwarding.ts'
import { isForwardedByStranger, parseTrustedProxies } from '../../platform/http/client-address.ts'
import { describeError } from '../../platform/log.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import { verifySmtp } from '../../platform/mail/smtp-transport.ts'
import { events } from '../../shop/events/schema.ts'
import { failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const timeoutMs = 5_000
/** Stripe's signatures are refused 300 s off; the margin is for a clock that goes on drifting. */
const failedSkewMs = 120_000
const warningSkewMs = 10_000
const strangerKeptMs = 24 * 60 * 60_000

export const networkChecks: readonly Check[] = [
  { name: 'clock', run: checkClock },
  { name: 'public url', run: checkPublicUrl },
  {
    name: 'forwarded requests',
    run({ config, clock }) {
      const note = readStranger(config.dataDir)
      const current = note !== undefined && Math.abs(clock.now() - note.at) < strangerKeptMs
      if (!current || !isForwardedByStranger(note.address, 'anyone', parseTrustedProxies(config.trustedProxies)))
        return ok('All came by trusted proxies, or by none.')
      return failed(
        `${note.address} forwards requests and is not trusted (last at ${toIso(note.at)}).`,
        'If it is your proxy, add it to SHOPSTEAD_TRUSTED_PROXIES: its visitors share one rate limit until then.'
      )
    }
  },
  {
    name: 'smtp',
    async run({ config }) {
      if (config.smtpUrl === null) {
        const message = 'SHOPSTEAD_SMTP_URL is not set: messages are files in data/mail.'
        return config.env === 'production' ? failed(message, 'Set it, or nobody gets a message.') : ok(message)
      }
      try {
        await verifySmtp(config.smtpUrl)
        return ok('The mail server takes our login.')
      } catch (error) {
        // Without its cause: a server may repeat the password in its answer.
        const reason = error instanceof MailFailure ? error.message : 'SHOPSTEAD_SMTP_URL is not understood'
        return failed(
          `The mail server cannot be used: ${reason}.`,
          'Check SHOPSTEAD_SMTP_URL, and that the server is up; messages wait meanwhile.'
        )
      }
    }
  }
]

/** Any answer of Stripe's tells the time, also one that asks for a key. */
async function checkClock(app: App): Promise<Finding> {
  const { cards, config, clock } = app
  const ahead = newestEventAt(app) - clock.now()
  if (cards?.name !== 'stripe')
    return ahead > warningSkewMs ? setBack(ahead) : ok('Not compared: Stripe is not in use.')
  const before = clock.now()
  const answer = await ask(`${config.stripe.apiBase ?? 'https://api.stripe.com'}/healthcheck`)
  if (answer instanceof Error)
    return warning(`Stripe does not answer: ${describeError(answer)}.`, 'Check the network and its name service.')
  const theirs = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return warning('Stripe did not say what time it is.', 'Check for a proxy in between.')
  const skew = Math.abs((before + clock.now()) / 2 - theirs)
  const message = `${Math.round(skew / 1000)} s from Stripe's.`
  const advice = "Set the clock (timedatectl set-ntp true): Stripe's signatures are refused when it is 5 minutes off."
  if (skew > failedSkewMs) return failed(message, advice)
  if (skew > warningSkewMs) return warning(message, advice)
  return ahead > warningSkewMs ? setBack(ahead) : ok(message)
}

/** What has happened cannot have happened later than now. */
function newestEventAt({ db }: App): number {
  return (
    db.orm
      .select({ at: max(events.createdAt) })
      .from(events)
      .get()?.at ?? 0
  )
}

function setBack(aheadMs: number): Finding {
  return warning(
    `The newest event is of ${span(aheadMs)} from now: the clock was ahead then, or is behind now.`,
    'Set the clock (timedatectl set-ntp true). What a clock that was ahead has started does not count.'
  )
}

/**
 * Goes the way of a browser: a nonce through the first-party proxy, then a logout of nobody, which sends the session
 * cookie. What stands in front of Shopstead must let both through.
 */
async function checkPublicUrl(app: App): Promise<Finding> {
  const { env, publicUrl } = app.config
  const production = env === 'production'
  if (publicUrl === null) {
    return production
      ? failed('SHOPSTEAD_PUBLIC_URL is not set.', 'Set it to the address that browsers use.')
      : ok(`${app.publicUrl()}, since SHOPSTEAD_PUBLIC_URL is not set.`)
  }
  if (production && !publicUrl.startsWith('https:'))
    return failed(`${publicUrl} is not https.`, 'Serve the shop over https: cookies and cards are open to all without.')
  const nonce = await ask(`${publicUrl}/api/secure/nonce`)
  if (nonce instanceof Error) {
    const message = `Nothing answers at ${publicUrl}: ${describeError(nonce)}.`
    return production
      ? failed(message, 'Start the server, or check name service, certificate and the web server in front.')
      : warning(message, 'Start the server to have this checked.')
  }
  return checkCookie(app, publicUrl, nonce)
}

async function checkCookie(app: App, publicUrl: string, answer: Response): Promise<Finding> {
  const body = (await answer.json().catch(() => ({}))) as { data?: { nonce?: unknown; headerName?: unknown } }
  const { nonce, headerName } = body.data ?? {}
  if (answer.status !== 200 || typeof nonce !== 'string' || typeof headerName !== 'string')
    return failed(
      `${publicUrl} is not answered by Shopstead (status ${answer.status} for /api/secure/nonce).`,
      'Let the web server in front pass on every path, or correct SHOPSTEAD_PUBLIC_URL.'
    )
  const logout = await ask(`${publicUrl}/api/secure/auth/logout`, { method: 'POST', headers: { [headerName]: nonce } })
  const cookies = logout instanceof Error ? [] : logout.headers.getSetCookie()
  const cookie = cookies.find((line) => line.startsWith(`${sessionCookieName(app)}=`))
  if (cookie === undefined)
    return failed(
      `The session cookie ${sessionCookieName(app)} does not come through ${publicUrl}.`,
      'Let the web server in front pass on Set-Cookie and X-Nonce as they are.'
    )
  if (/;\s*domain=/i.test(cookie) || (publicUrl.startsWith('https:') && !/;\s*secure/i.test(cookie)))
    return failed(
      'The session cookie is changed on its way.',
      'Let the web server in front pass on Set-Cookie as it is.'
    )
  return ok(`${publicUrl} answers, cookies come through.`)
}

async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error && cause.name !== 'TimeoutError'
      ? cause
      : new Error(`no answer within ${timeoutMs / 1000} s`)
  }
}
