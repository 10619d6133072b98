import { isEventType } from '../events/event-types.ts'
import { webhookEndpoints } from './schema.ts'
import { asc, eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { freshBytes } from '../../platform/crypto/secrets.ts'
import { isUniqueViolation } from '../../platform/db/database.ts'
import type { Db, Tx } from '../../platform/db/database.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect

/**
 * Adds an address that hears of events from now on, with a new secret of 256 bits.
 *
 * The address is the operator's own word: the shop calls it from where it stands, the loopback and private networks
 * included, which is what a site beside the shop needs. What bounds it: no visitor can set it, redirects are not
 * followed, and nothing of an answer but its status is kept or shown.
 *
 * @param given.types event types it wants; null for all
 * @throws AppError VALIDATION_FAILED, CONFLICT when the address is there already.
 */
export function addEndpoint(tx: Tx, given: { url: string; types: string[] | null }, now: number): EndpointRow {
  const url = parseAddress(given.url)
  const unknown = given.types?.find((type) => !isEventType(type))
  if (unknown !== undefined || given.types?.length === 0) {
    throw validationFailed({ types: [`There is no event "${unknown ?? ''}": "shopstead events types" names them.`] })
  }
  const secret = `whsec_${freshBytes(32).toString('base64')}`
  try {
    return tx.orm.insert(webhookEndpoints).values({ url, types: given.types, secret, createdAt: now }).returning().get()
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('CONFLICT', 'That address is there already.')
    throw error
  }
}

function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const good =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    text.length <= 2048
  if (!good) throw validationFailed({ url: ['Takes an http or https address without credentials in it.'] })
  return url.href
}

export function listEndpoints(db: Db): EndpointRow[] {
  return db.orm.select().from(webhookEndpoints).orderBy(asc(webhookEndpoints.id)).all()
}

/** @throws AppError NOT_FOUND */
export function getEndpoint(db: Db, id: number): EndpointRow {
  const found = db.orm.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)).get()
  if (found === undefined) throw new AppError('NOT_FOUND', `There is no webhook ${id}.`)
  return found
}

/** Forgets an endpoint and what still was to be delivered to it. @throws AppError NOT_FOUND */
export function removeEndpoint(tx: Tx, id: number): EndpointRow {
  const endpoint = getEndpoint(tx, id)
  tx.orm.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id)).run()
  return endpoint
}
