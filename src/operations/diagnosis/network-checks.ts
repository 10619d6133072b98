import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { max } from 'drizzle-orm'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { readMisforwarding, isUntrustedForwarding, parseTrustedProxies } from '../../platform/http/client-address.ts'
import { toIso } from '../../platform/iso-time.ts'
import { describeError } from '../../platform/log.ts'
import { MailFailure } from '../../platform/mail/message.ts'
import { verifySmtp } from '../../platform/mail/smtp-transport.ts'
import { sessionCookieName } from '../../shop/accounts/sessions.ts'
import { busiestAddress } from '../../shop/limits/visitors.ts'
import { events } from '../../shop/events/schema.ts'
import { instanceHeader, instanceOf } from '../instance.ts'
import { isServerRunning } from '../server-lock.ts'
import { ask, failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'
import { startIt } from './work-checks.ts'

/** A webhook's signature fails when the clock is 300 s off. The margin leaves time for a clock that drifts further. */
const failedSkewMs = 120_000
const warningSkewMs = 10_000
const misforwardingMs = 24 * 60 * 60_000
/** Loopback, private and link-local addresses (RFC 1122, 1918, 3927, 4193, 4291). */
const ownNetworks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10'
]

export const networkChecks: readonly Check[] = [
  { name: 'clock', run: checkClock },
  { name: 'public url', run: checkPublicUrl },
  { name: 'certificate', run: checkCertificate },
  { name: 'forwarded requests', run: checkForwarding },
  { name: 'client addresses', run: checkClientAddresses },
  { name: 'visitors', run: checkVisitors },
  { name: 'smtp', run: checkSmtp }
]

/** Any client on the internet can send X-Forwarded-For. From the shop's own network, it comes from a proxy. */
function checkForwarding({ config, clock }: App): Finding {
  const seen = readMisforwarding(config.dataDir, 'untrusted')
  const current = seen !== undefined && Math.abs(clock.now() - seen.at) < misforwardingMs
  if (!current || isIn(seen.address, config.trustedProxies))
    return ok('No untrusted proxy forwarded requests in the last 24 hours.')
  const advice =
    'If it is your proxy, add it to SHOPSTEAD_TRUSTED_PROXIES: until then, all its visitors share one rate limit.'
  const at = `(last seen ${toIso(seen.at)})`
  return isIn(seen.address, ownNetworks)
    ? failed(`${seen.address} forwards requests but is not a trusted proxy ${at}.`, advice)
    : warning(
        `${seen.address} sends X-Forwarded-For but is not a trusted proxy ${at}.`,
        `Any client can do so. ${advice}`
      )
}

/** Any client can send the header of a proxy. From the shop's own network or a trusted proxy, it comes from the site. */
function checkClientAddresses({ config, clock }: App): Finding {
  const seen = readMisforwarding(config.dataDir, 'withoutAddress')
  if (seen === undefined || Math.abs(clock.now() - seen.at) >= misforwardingMs)
    return ok('The first-party proxies send the addresses of their clients.')
  const at = `(last seen ${toIso(seen.at)})`
  const advice =
    "Pass clientAddress to the proxy (shopstead guide building-a-site): until then, one visitor's wrong passwords lock out all."
  return isIn(seen.address, [...ownNetworks, ...config.trustedProxies])
    ? failed(`The proxy at ${seen.address} does not send the addresses of its clients ${at}.`, advice)
    : warning(
        `A proxy at ${seen.address} does not send the addresses of its clients ${at}.`,
        `If it is yours: ${advice}`
      )
}

/** A new or quiet shop may have one customer, or only its owner. */
const fewVisitors = 50
const mostVisitors = 0.8

/** A proxy that does not pass the addresses of its clients makes all of them one client. */
function checkVisitors(shop: App): Finding {
  const busiest = busiestAddress(shop)
  if (busiest === undefined || busiest.ofAll < fewVisitors || busiest.visitors < busiest.ofAll * mostVisitors)
    return ok('Visitors come from different addresses.')
  const { address, visitors, ofAll } = busiest
  return warning(
    `${visitors} of the last ${ofAll} new visitors have the address ${address}.`,
    'If it is a proxy or the server of your site, let it send the address of each visitor in X-Forwarded-For, and add it to SHOPSTEAD_TRUSTED_PROXIES: until then, all its visitors share one rate limit. If it is a program or one place with many customers, you do not need to do anything.'
  )
}

function isIn(address: string, networks: readonly string[]): boolean {
  return !isUntrustedForwarding(address, 'anyone', parseTrustedProxies(networks))
}

/** Compares the clock with the Date header of Stripe's answer, which any answer has, even one that asks for a key. */
async function checkClock(app: App): Promise<Finding> {
  const { cards, config, clock } = app
  const ahead = newestEventAt(app) - clock.now()
  if (cards?.name !== 'stripe')
    return ahead > warningSkewMs ? clockMoved(ahead) : ok('Not checked, because the shop does not use Stripe.')
  const before = clock.now()
  const answer = await ask(`${config.stripe.apiBase ?? 'https://api.stripe.com'}/healthcheck`)
  if (answer instanceof Error)
    return warning(`Stripe does not answer: ${describeError(answer)}.`, 'Check the network and DNS.')
  const theirs = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(theirs))
    return warning("Stripe's answer has no Date header.", 'Check whether an outgoing proxy removes it.')
  const skew = Math.abs((before + clock.now()) / 2 - theirs)
  const message = `${Math.round(skew / 1000)} s off from Stripe's clock.`
  const advice = "Set the clock (timedatectl set-ntp true): Stripe's webhooks are rejected when it is 5 minutes off."
  if (skew > failedSkewMs) return failed(message, advice)
  if (skew > warningSkewMs) return warning(message, advice)
  return ahead > warningSkewMs ? clockMoved(ahead) : ok(message)
}

/** The time of the newest stored event. It lies in the past if the clock has always been right. */
function newestEventAt({ db }: App): number {
  return (
    db.orm
      .select({ at: max(events.createdAt) })
      .from(events)
      .get()?.at ?? 0
  )
}

function clockMoved(aheadMs: number): Finding {
  return warning(
    `The newest event is dated ${span(aheadMs)} in the future: the clock was ahead then, or is behind now.`,
    'Set the clock (timedatectl set-ntp true). The shop ignores its own times that lie in the future.'
  )
}

async function checkSmtp({ config }: App): Promise<Finding> {
  if (config.smtpUrl === null) {
    const message = 'SHOPSTEAD_SMTP_URL is not set: messages are written to files in data/mail.'
    return config.env === 'production'
      ? failed(message, 'Set SHOPSTEAD_SMTP_URL: until then, the shop sends no email.')
      : ok(message)
  }
  try {
    await verifySmtp(config.smtpUrl)
    return ok('The mail server accepts the login.')
  } catch (error) {
    const told = error instanceof MailFailure ? error.message : 'EURL'
    const code = told.split(/[ :]/)[0] ?? ''
    const words = told.includes(': ') ? ` (${told.slice(told.indexOf(': ') + 2)})` : ''
    const { reason, advice } = mailProblems[code] ?? {
      reason: `cannot be used: ${code}`,
      advice: 'Check SHOPSTEAD_SMTP_URL and the log of the mail server.'
    }
    return failed(`The mail server ${reason}${words}.`, `${advice} Messages stay queued until it works.`)
  }
}

const notReached = {
  reason: 'does not answer',
  advice: 'Check the host and port in SHOPSTEAD_SMTP_URL, that the mail server is up, and the firewall.'
}

/** What nodemailer's error codes mean (nodemailer.com/errors). */
const mailProblems: Readonly<Record<string, { reason: string; advice: string }>> = {
  EAUTH: {
    reason: 'refuses the login',
    advice:
      'Correct the user and password in SHOPSTEAD_SMTP_URL; percent-encode characters such as @ (%40). Some providers need a password of its own for programs.'
  },
  ECONNECTION: notReached,
  ECONNREFUSED: notReached,
  ESOCKET: notReached,
  ETIMEDOUT: notReached,
  EDNS: { reason: 'has a name that is unknown', advice: 'Correct the host in SHOPSTEAD_SMTP_URL.' },
  ECERTIFICATE: {
    reason: 'has a certificate that is not trusted',
    advice:
      'Set the name of the certificate as the host in SHOPSTEAD_SMTP_URL, set NODE_EXTRA_CA_CERTS to the file of your own authority, or, in your own network, add ?tls.rejectUnauthorized=false.'
  },
  ETLS: {
    reason: 'offers no TLS',
    advice: 'Use port 587 or smtps:// in SHOPSTEAD_SMTP_URL, or allow it with ?requireTLS=false in your own network.'
  },
  EURL: { reason: 'has no valid address', advice: 'Correct SHOPSTEAD_SMTP_URL: smtp://user:password@host:587.' }
}

/**
 * Sends requests to the public URL as a browser does: it gets a nonce through the first-party proxy, then logs out
 * without a session, which sets the session cookie. The web server in front of Shopstead must pass both on.
 */
async function checkPublicUrl(app: App): Promise<Finding> {
  const { env, publicUrl } = app.config
  const production = env === 'production'
  if (publicUrl === null) {
    return production
      ? failed('SHOPSTEAD_PUBLIC_URL is not set.', 'Set it to the address that browsers open.')
      : ok(`${app.publicUrl()}, because SHOPSTEAD_PUBLIC_URL is not set.`)
  }
  if (production && !publicUrl.startsWith('https:'))
    return failed(
      `${publicUrl} is not https.`,
      'Serve the shop over https and change SHOPSTEAD_PUBLIC_URL: http exposes cookies and card data.'
    )
  const nonce = await ask(`${publicUrl}/api/secure/nonce`)
  if (nonce instanceof Error) return unreachable(app, publicUrl, nonce)
  return (await checkInstance(app, publicUrl)) ?? checkCookie(app, publicUrl, nonce)
}

function unreachable({ config }: App, publicUrl: string, error: Error): Finding {
  const isDown = !isServerRunning(config.dataDir)
  const found = config.env === 'production' ? failed : warning
  const message = `${publicUrl} does not answer: ${describeError(error)}.`
  if (isDown) return found(message, startIt)
  const code = 'code' in error ? String(error.code) : ''
  return found(message, causes.find(({ when }) => when.test(code))?.advice ?? causes[0].advice)
}

/** Advice by the code of the error, for a server that runs. */
const causes = [
  {
    when: /^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/,
    advice: 'The server runs, so look at the web server in front of it: "systemctl status caddy".'
  },
  {
    when: /^(ENOTFOUND|EAI_AGAIN)$/,
    advice: 'The server runs, but the name is unknown: set its DNS record to this machine.'
  },
  {
    when: /CERT|SELF_SIGNED|UNABLE_TO/,
    advice:
      'Browsers refuse this certificate: renew it in the web server in front. Caddy does so by itself; "journalctl -u caddy -n 50" says what prevents it.'
  }
] as const

/** A failure if the name leads to another server, undefined if it leads to this one or /livez is not passed on. */
async function checkInstance(app: App, publicUrl: string): Promise<Finding | undefined> {
  const alive = await ask(`${publicUrl}/livez`)
  const theirs = alive instanceof Error ? null : alive.headers.get(instanceHeader)
  if (theirs === null || theirs === instanceOf(app)) return undefined
  return failed(
    `Another Shopstead server answers at ${publicUrl}: not the one of this data folder.`,
    isServerRunning(app.config.dataDir)
      ? 'Set the DNS record of the name, and the web server in front, to this machine and the port of this server.'
      : startIt
  )
}

const nonceAnswer = z.object({ data: z.object({ nonce: z.string(), headerName: z.string() }) })

async function checkCookie(app: App, publicUrl: string, answer: Response): Promise<Finding> {
  const body = nonceAnswer.safeParse(await answer.json().catch(() => undefined))
  if (answer.status !== 200 || !body.success)
    return failed(
      `Shopstead does not answer at ${publicUrl} (status ${answer.status} for /api/secure/nonce).`,
      isServerRunning(app.config.dataDir)
        ? 'Configure the web server in front to pass on every path to this server, or correct SHOPSTEAD_PUBLIC_URL.'
        : startIt
    )
  const { nonce, headerName } = body.data.data
  const logout = await ask(`${publicUrl}/api/secure/auth/logout`, { method: 'POST', headers: { [headerName]: nonce } })
  const cookies = logout instanceof Error ? [] : logout.headers.getSetCookie()
  const cookie = cookies.find((line) => line.startsWith(`${sessionCookieName(app)}=`))
  if (cookie === undefined)
    return failed(
      `The answer from ${publicUrl} lacks the session cookie ${sessionCookieName(app)}.`,
      'Configure the web server in front to pass on Set-Cookie and X-Nonce unchanged.'
    )
  if (/;\s*domain=/i.test(cookie) || (publicUrl.startsWith('https:') && !/;\s*secure/i.test(cookie)))
    return failed(
      'The web server in front of Shopstead changes the session cookie.',
      'Configure it to pass on Set-Cookie unchanged.'
    )
  return ok(`${publicUrl} answers and passes on cookies.`)
}

const timeoutMs = 5_000
const dayMs = 24 * 60 * 60_000
/** Caddy and Certbot renew a certificate when a third of its time is left. */
const soonShare = 1 / 6
const soonMs = 14 * dayMs

/** Looks at when the certificate of the public URL ends, while the web server in front can still renew it. */
async function checkCertificate({ config, clock }: App): Promise<Finding> {
  if (!config.publicUrl?.startsWith('https:')) return ok('Not checked, because the public URL is not https.')
  const validity = await readValidity(new URL(config.publicUrl))
  // The check of the public URL says why.
  if (validity === undefined) return ok('Not checked, because the public URL does not answer.')
  const { from, to } = validity
  const left = to - clock.now()
  if (left > Math.min(soonMs, (to - from) * soonShare)) return ok(`Valid until ${toIso(to)}.`)
  return warning(
    left > 0
      ? `The certificate of ${config.publicUrl} ends in ${span(left)}, at ${toIso(to)}: its renewal fails.`
      : `The certificate of ${config.publicUrl} ended at ${toIso(to)}.`,
    'Renew it in the web server in front. Caddy does so by itself; "journalctl -u caddy -n 50" says what prevents it.'
  )
}

/** When the certificate of an address begins and ends, in epoch milliseconds; undefined without an answer. */
function readValidity({ hostname, port }: URL): Promise<{ from: number; to: number } | undefined> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    // The certificate is only read, so an invalid one is not refused.
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...name })
    const end = (validity?: { from: number; to: number }): void => {
      socket.destroy()
      resolve(validity)
    }
    socket.setTimeout(timeoutMs, () => end())
    socket.once('error', () => end())
    socket.once('secureConnect', () => {
      const { valid_from: from, valid_to: to } = socket.getPeerCertificate()
      end({ from: Date.parse(from), to: Date.parse(to) })
    })
  })
}
