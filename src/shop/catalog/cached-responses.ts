import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { isModuleOn, revisions } from '../settings/settings.ts'

/** A complete response body. Its bytes, and so its strong ETag, are the same until something in it changes. */
export type CachedResponse = {
  body: Buffer<ArrayBuffer>
  etag: string
}

/** The `data` of a response, and the next time at which it may change by itself; null for never. */
export type Rendered = { data: object; changesAt: number | null }

export type CatalogShop = Pick<ShopContext, 'db' | 'publicUrl'>

/** Valid from `createdAt`, so that a response is rendered again when the clock was set back. */
type StoredResponse = CachedResponse & { createdAt: number; validUntil: number }
type Cache = {
  generation: string
  isOpen: boolean
  responses: BoundedCache<StoredResponse>
}

const caches = new WeakMap<Db['sqlite'], Cache>()
const responsesLimitBytes = 32 * 1024 * 1024

/**
 * A public response about the catalog as JSON, from a cache. The cache is dropped when any process has changed the
 * catalog or a setting, and a response expires when it `changesAt`, for example when a sale in it starts.
 *
 * @param keyOf names the response; it also contains everything that changes the response without changing a revision
 * @param render runs in the same snapshot as `keyOf`
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export function cachedResponse(
  shop: CatalogShop,
  keyOf: () => string,
  render: () => Rendered,
  now: number
): CachedResponse {
  const { isOpen, responses } = currentCache(shop)
  if (!isOpen) throw new AppError('DEPENDENCY_UNAVAILABLE', 'The shop is closed at the moment.')
  const cached = responses.get(keyOf())
  if (cached !== undefined && cached.createdAt <= now && now < cached.validUntil) return cached
  // One snapshot, so that a response cached under a revision contains exactly that revision.
  return readSnapshot(shop.db, () => {
    const cache = currentCache(shop)
    const response = toResponse(render(), now)
    cache.responses.set(keyOf(), response)
    return response
  })
}

function currentCache({ db, publicUrl }: CatalogShop): Cache {
  const { catalog, settings } = revisions(db)
  const generation = `${catalog} ${settings} ${publicUrl()}`
  const known = caches.get(db.sqlite)
  if (known?.generation === generation) return known
  const fresh = {
    generation,
    isOpen: isModuleOn(db, 'commerce'),
    responses: new BoundedCache<StoredResponse>(responsesLimitBytes, ({ body }) => body.length + 500)
  }
  caches.set(db.sqlite, fresh)
  return fresh
}

function toResponse({ data, changesAt }: Rendered, now: number): StoredResponse {
  const body = Buffer.from(JSON.stringify({ data, meta: {} }))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  return { body, etag, createdAt: now, validUntil: changesAt ?? Infinity }
}

/** The earliest of several times; null without any. */
export function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/**
 * A least-recently-used cache with a limit in bytes. Keys count too, because clients choose them and can make them long.
 * A value that needs more than a quarter of the limit is not stored.
 */
export class BoundedCache<T> {
  readonly #limit: number
  readonly #sizeOf: (value: T) => number
  readonly #values = new Map<string, T>()
  #size = 0

  /**
   * @param limit in bytes
   * @param sizeOf size of a value in bytes, without its key
   */
  constructor(limit: number, sizeOf: (value: T) => number) {
    this.#limit = limit
    this.#sizeOf = sizeOf
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#remove(key)
    const size = this.#bytesOf(key, value)
    if (size > this.#limit / 4) return
    this.#values.set(key, value)
    this.#size += size
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit) return
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#size -= this.#bytesOf(key, value)
  }

  #bytesOf(key: string, value: T): number {
    return 2 * key.length + this.#sizeOf(value)
  }
}
