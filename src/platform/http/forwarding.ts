import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { describeError } from '../log.ts'
import type { Logger } from '../log.ts'
import { isUntrustedForwarding } from './client-address.ts'
import type { TrustedProxies } from './client-address.ts'
import { socketAddress } from './node-request.ts'

/** The untrusted address that last forwarded a request, and when (epoch milliseconds). */
export type UntrustedProxy = { address: string; at: number }

const schema = z.object({ address: z.string(), at: z.number() })
const noteEveryMs = 60_000

/**
 * Records in the data folder, at most once a minute, that an untrusted address sent X-Forwarded-For. `shopstead health`
 * reports it: if SHOPSTEAD_TRUSTED_PROXIES lacks the shop's proxy, all visitors count as one client.
 */
export function watchForwarding(
  dataDir: string,
  trusted: TrustedProxies,
  now: () => number,
  log: Logger
): (request: Request) => void {
  let notedAt = 0
  return (request) => {
    const forwardedFor = request.headers.get('x-forwarded-for')
    if (forwardedFor === null || Math.abs(now() - notedAt) < noteEveryMs) return
    const address = socketAddress(request)
    if (address === undefined || !isUntrustedForwarding(address, forwardedFor, trusted)) return
    notedAt = now()
    try {
      note(dataDir, { address, at: notedAt })
    } catch (error) {
      // The record is only for `health`, so the request continues.
      log.warn('a forwarded request could not be recorded', { error: describeError(error) })
    }
  }
}

function note(dataDir: string, proxy: UntrustedProxy): void {
  const file = noteFile(dataDir)
  writeFileSync(`${file}.draft`, JSON.stringify(proxy), { mode: 0o600 })
  renameSync(`${file}.draft`, file)
}

/** The last untrusted proxy that watchForwarding recorded; undefined if it recorded none. */
export function readUntrustedProxy(dataDir: string): UntrustedProxy | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(noteFile(dataDir), 'utf8')))
  } catch {
    // The file does not exist.
    return undefined
  }
}

function noteFile(dataDir: string): string {
  return join(dataDir, 'forwarded-by-stranger.json')
}
