import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { describeError } from '../log.ts'
import type { Logger } from '../log.ts'
import { isForwardedByStranger } from './client-address.ts'
import type { TrustedProxies } from './client-address.ts'
import { socketAddress } from './node-request.ts'

/** Who last passed on a request of somebody else's without being trusted to, and when. */
export type Stranger = { address: string; at: number }

const strangerSchema = z.object({ address: z.string(), at: z.number() })
const noteEveryMs = 60_000

/**
 * Notes in the data folder when a request comes with X-Forwarded-For from an address that is not trusted, for
 * `shopstead health` to find: a proxy that was left out of SHOPSTEAD_TRUSTED_PROXIES makes one client of all its visitors.
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
    if (address === undefined || !isForwardedByStranger(address, forwardedFor, trusted)) return
    notedAt = now()
    try {
      note(dataDir, { address, at: notedAt })
    } catch (error) {
      // The request itself is no worse for it.
      log.warn('a forwarded request could not be noted', { error: describeError(error) })
    }
  }
}

function note(dataDir: string, stranger: Stranger): void {
  const file = noteFile(dataDir)
  writeFileSync(`${file}.draft`, JSON.stringify(stranger), { mode: 0o600 })
  renameSync(`${file}.draft`, file)
}

export function readStranger(dataDir: string): Stranger | undefined {
  try {
    return strangerSchema.parse(JSON.parse(readFileSync(noteFile(dataDir), 'utf8')))
  } catch {
    // None has been noted.
    return undefined
  }
}

function noteFile(dataDir: string): string {
  return join(dataDir, 'forwarded-by-stranger.json')
}
