import type { App } from '../../app.ts'
import { describeError } from '../../platform/log.ts'
import { sessionCookieName } from '../../shop/accounts/session-cookie.ts'
import { instanceHeader, instanceOf } from '../instance.ts'
import { isServerRunning } from '../server-lock.ts'
import { ask } from './ask.ts'
import { failed, ok, warning } from './check.ts'
import type { Finding } from './check.ts'
import { startIt } from './server-checks.ts'

/**
 * Sends requests to the public URL as a browser does: it gets a nonce through the first-party proxy, then logs out
 * without a session, which sets the session cookie. The web server in front of Shopstead must pass both on.
 */
export async function checkPublicUrl(app: App): Promise<Finding> {
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

async function checkCookie(app: App, publicUrl: string, answer: Response): Promise<Finding> {
  const body = (await answer.json().catch(() => ({}))) as { data?: { nonce?: unknown; headerName?: unknown } }
  const { nonce, headerName } = body.data ?? {}
  if (answer.status !== 200 || typeof nonce !== 'string' || typeof headerName !== 'string')
    return failed(
      `Shopstead does not answer at ${publicUrl} (status ${answer.status} for /api/secure/nonce).`,
      isServerRunning(app.config.dataDir)
        ? 'Configure the web server in front to pass on every path to this server, or correct SHOPSTEAD_PUBLIC_URL.'
        : startIt
    )
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
