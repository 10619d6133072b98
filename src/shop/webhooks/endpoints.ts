import { randomBytes } from 'node:crypto'
import { isEventType } from '../events/event-types.ts'
import { webhookEndpoints } from './schema.ts'
import type { OldSecret } from './schema.ts'
import { asc, eq } from 'drizzle-orm'
import { AppError, validationFailed } from '../../errors.ts'
import { isUniqueViolation, write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect

/** A message has few signatures, because verifiers stop after some. */
const mostOldSecrets = 4

/**
 * Adds an endpoint that receives the events from now on, signed with a new secret of 256 bits.
 *
 * The address is trusted: the shop also calls loopback and private addresses, because the site may run on the same
 * machine. What limits the risk of server-side request forgery: only operators can set it, redirects are not followed,
 * and only the status of a response is stored and shown.
 *
 * @param input.types event types that are delivered; null for all
 * @param input.full events contain their order and its buyer
 * @throws AppError VALIDATION_FAILED for the address or a type, CONFLICT when the address is registered already
 */
export function addEndpoint(
  db: Db,
  input: { url: string; types: string[] | null; full?: boolean },
  now: number
): EndpointRow {
  const url = parseAddress(input.url)
  const unknown = input.types?.find((type) => !isEventType(type))
  if (unknown !== undefined || input.types?.length === 0) {
    throw validationFailed({
      types: [`Unknown event type "${unknown ?? ''}". "shopstead events types" lists the event types.`]
    })
  }
  const row = { url, types: input.types, secret: newSecret(), full: input.full ?? false, createdAt: now }
  try {
    return write(db, (tx) => tx.orm.insert(webhookEndpoints).values(row).returning().get())
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('CONFLICT', 'A webhook with this address already exists.')
    throw error
  }
}

function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isValid =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    text.length <= 2048
  if (!isValid) {
    throw validationFailed({ url: ['Must be an http or https URL without credentials, at most 2048 characters.'] })
  }
  return url.href
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/**
 * Gives an endpoint a new secret. The old one also signs for `overlapMs`; 0 ends every old secret now, because one of them
 * may be known to others. A receiver that has not got the latest secret yet is not cut off by another rotation.
 *
 * @throws AppError NOT_FOUND
 */
export function rotateSecret(db: Db, id: number, overlapMs: number, now: number): EndpointRow {
  return write(db, (tx) => {
    const { secret, ...endpoint } = getEndpoint(tx, id)
    const old = [{ secret, endsAt: now + overlapMs }, ...validOldSecrets(endpoint, now)].slice(0, mostOldSecrets)
    const values = { secret: newSecret(), oldSecrets: overlapMs === 0 ? null : old }
    return tx.orm.update(webhookEndpoints).set(values).where(eq(webhookEndpoints.id, id)).returning().get()
  })
}

/** The replaced secrets of an endpoint that still sign, the newest first. */
export function validOldSecrets({ oldSecrets }: Pick<EndpointRow, 'oldSecrets'>, now: number): OldSecret[] {
  return (oldSecrets ?? []).filter(({ endsAt }) => endsAt > now)
}

/** All endpoints, in the order in which they were added. */
export function listEndpoints(db: Db): EndpointRow[] {
  return db.orm.select().from(webhookEndpoints).orderBy(asc(webhookEndpoints.id)).all()
}

/** @throws AppError NOT_FOUND */
export function getEndpoint(db: Db, id: number): EndpointRow {
  const found = db.orm.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)).get()
  if (found === undefined) throw new AppError('NOT_FOUND', `Webhook ${id} does not exist.`)
  return found
}

/** Deletes an endpoint and its deliveries, also those that are still queued. @throws AppError NOT_FOUND */
export function removeEndpoint(db: Db, id: number): EndpointRow {
  return write(db, (tx) => {
    const endpoint = getEndpoint(tx, id)
    tx.orm.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id)).run()
    return endpoint
  })
}
