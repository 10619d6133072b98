import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { describeError } from '../log.ts'
import type { Logger } from '../log.ts'
import { isUntrustedForwarding } from './client-address.ts'
import type { TrustedProxies } from './client-address.ts'
import { checkNonceHeader } from './csrf.ts'
import { socketAddress } from './node-request.ts'

/** An address that sent a request of a kind, and when (epoch milliseconds). */
export type SeenSender = { address: string; at: number }

const schema = z.object({ address: z.string(), at: z.number() })
const noteEveryMs = 60_000

/** The kinds of requests that show a wrong configuration, each with the file that records the last one. */
const files = {
  untrusted: 'forwarded-by-stranger.json',
  withoutAddress: 'proxied-without-address.json'
} as const

export type Misforwarding = keyof typeof files

/**
 * Records in the data folder, at most once a minute, what makes all visitors count as one client, and `shopstead health`
 * reports: an untrusted address sent X-Forwarded-For (SHOPSTEAD_TRUSTED_PROXIES lacks the shop's proxy), or a first-party
 * proxy does not send the client's address. The log warns of the second once.
 */
export function watchForwarding(
  dataDir: string,
  trusted: TrustedProxies,
  now: () => number,
  log: Logger
): (request: Request) => void {
  const notedAt = { untrusted: 0, withoutAddress: 0 }
  const note = (kind: Misforwarding, address: string): void => {
    if (Math.abs(now() - notedAt[kind]) < noteEveryMs) return
    if (kind === 'withoutAddress' && notedAt[kind] === 0)
      log.warn('a first-party proxy does not send the address of its clients, so they all share one rate limit')
    notedAt[kind] = now()
    try {
      write(join(dataDir, files[kind]), { address, at: notedAt[kind] })
    } catch (error) {
      // The record is only for `health`, so the request continues.
      log.warn('a forwarded request could not be recorded', { error: describeError(error) })
    }
  }
  return (request) => {
    const forwardedFor = request.headers.get('x-forwarded-for')
    if (forwardedFor === null && !request.headers.has(checkNonceHeader)) return
    const address = socketAddress(request)
    if (address === undefined) return
    if (isUntrustedForwarding(address, forwardedFor, trusted)) note('untrusted', address)
    if (forwardedFor === null) note('withoutAddress', address)
  }
}

function write(file: string, sender: SeenSender): void {
  writeFileSync(`${file}.draft`, JSON.stringify(sender), { mode: 0o600 })
  renameSync(`${file}.draft`, file)
}

/** The last sender that watchForwarding recorded; undefined if it recorded none. */
export function readMisforwarding(dataDir: string, kind: Misforwarding): SeenSender | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(join(dataDir, files[kind]), 'utf8')))
  } catch {
    // The file does not exist.
    return undefined
  }
}
