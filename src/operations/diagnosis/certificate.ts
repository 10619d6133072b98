import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { App } from '../../app.ts'
import { toIso } from '../../platform/iso-time.ts'
import { ok, span, warning } from './check.ts'
import type { Finding } from './check.ts'

const timeoutMs = 5_000
const dayMs = 24 * 60 * 60_000
/** Caddy and Certbot renew a certificate when a third of its time is left. */
const soonShare = 1 / 6
const soonMs = 14 * dayMs

/** Looks at when the certificate of the public URL ends, while the web server in front can still renew it. */
export async function checkCertificate({ config, clock }: App): Promise<Finding> {
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
