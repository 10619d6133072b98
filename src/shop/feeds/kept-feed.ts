import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { deleteUnfinished, listFolder, unfinishedPath } from '../../platform/files.ts'
import type { ProductRow } from '../catalog/rows.ts'
import type { ShopContext } from '../context.ts'
import { isModuleOn, revisions, setting } from '../settings/settings.ts'
import { listZones } from '../shipping/zones.ts'
import { feedFormats } from './formats.ts'
import type { FeedName } from './formats.ts'
import { feedProducts } from './walk.ts'

/** A feed as a file, compressed with gzip. `etag` names its content, in quotes. */
export type KeptFeed = { path: string; sizeBytes: number; etag: string }

/** `key` names everything that the feed was made from, and `changesAt` is when a price in it changes by itself. */
type Made = KeptFeed & { key: string; madeAt: number; changesAt: number }

/** A client that asks again and again makes the shop write a feed at most this often. */
const leastAgeMs = 60_000
/** How long the event loop may be busy with a feed before other requests have their turn. */
const turnMs = 10

const known = new WeakMap<Db['sqlite'], Map<FeedName, Promise<Made>>>()

/** The folder of the feeds. It is there once a feed was requested. */
export function feedFolder(dataDir: string): string {
  return join(dataDir, 'feeds')
}

/** Whether a market place or the operator has ever requested a feed. */
export function isFeedUsed(dataDir: string): boolean {
  return existsSync(feedFolder(dataDir))
}

/**
 * The feed of the published products. It is written to a file in steps, and kept until the catalog, a setting, the shipping
 * costs or a price changes, but for at least a minute. Requests at the same time share one file.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE while the commerce module is off
 */
export async function keptFeed(shop: ShopContext, name: FeedName, now: number): Promise<KeptFeed> {
  if (!isModuleOn(shop.db, 'commerce'))
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'The shop is closed at the moment.')
  const feeds = known.get(shop.db.sqlite) ?? new Map<FeedName, Promise<Made>>()
  known.set(shop.db.sqlite, feeds)
  const key = keyOf(shop)
  const before = feeds.get(name)
  const last = await before
  if (last !== undefined && isCurrent(last, key, now)) return last
  // Another request may have begun while this one waited.
  const begun = feeds.get(name)
  if (begun !== before && begun !== undefined) return begun
  const made = make(shop, name, key, now)
  feeds.set(name, made)
  made.catch(() => feeds.delete(name))
  return made
}

function isCurrent({ path, key, madeAt, changesAt }: Made, wanted: string, now: number): boolean {
  if (!existsSync(path) || now < madeAt) return false
  return now - madeAt < leastAgeMs || (key === wanted && now < changesAt)
}

function keyOf({ db, publicUrl }: ShopContext): string {
  const { catalog, settings } = revisions(db)
  return JSON.stringify([catalog, settings, publicUrl(), listZones(db)])
}

async function make(shop: ShopContext, name: FeedName, key: string, now: number): Promise<Made> {
  const folder = feedFolder(shop.config.dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  deleteUnfinished(folder)
  const draft = unfinishedPath(folder)
  try {
    const text = new FeedText(shop, name, now)
    await pipeline(Readable.from(text.parts()), createGzip(), createWriteStream(draft, { mode: 0o600 }))
    const tag = text.tag()
    const path = join(folder, `${tag}-${name}.gz`)
    renameSync(draft, path)
    deleteOlder(folder, name, path)
    return { path, sizeBytes: statSync(path).size, etag: `"${tag}"`, key, madeAt: now, changesAt: text.changesAt }
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Deletes the feeds of this name but the two newest: a request may be about to open the one before. */
function deleteOlder(folder: string, name: FeedName, path: string): void {
  const older = listFolder(folder)
    .filter((file) => file.endsWith(`-${name}.gz`))
    .map((file) => join(folder, file))
    .filter((file) => file !== path)
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const file of older.slice(1)) rmSync(file, { force: true })
}

/** When a sale of the product starts or ends after `now`. */
function nextSales({ saleStartsAt, saleEndsAt }: ProductRow, now: number): number[] {
  return [saleStartsAt, saleEndsAt].filter((at) => at !== null).filter((at) => at > now)
}

/** The text of a feed in parts, with its tag and the time of its next change once they are read. */
class FeedText {
  readonly #shop: ShopContext
  readonly #name: FeedName
  readonly #now: number
  readonly #hash = createHash('sha256')
  changesAt = Infinity

  constructor(shop: ShopContext, name: FeedName, now: number) {
    this.#shop = shop
    this.#name = name
    this.#now = now
  }

  async *parts(): AsyncGenerator<string> {
    for await (const part of this.#unhashed()) {
      this.#hash.update(part)
      yield part
    }
  }

  tag(): string {
    return this.#hash.digest('base64url').slice(0, 27)
  }

  async *#unhashed(): AsyncGenerator<string> {
    const { db, publicUrl } = this.#shop
    const format = feedFormats[this.#name]
    yield format.head({
      name: setting(db, 'shop.name'),
      about: setting(db, 'storefront.tagline'),
      url: `${publicUrl()}/`
    })
    let turnBegan = performance.now()
    for (const { product, entries } of feedProducts(this.#shop, this.#now)) {
      this.changesAt = Math.min(this.changesAt, ...nextSales(product, this.#now))
      const items = entries.flatMap(({ item }) => item ?? []).map((item) => format.item(item))
      if (items.length > 0) yield items.join('')
      if (performance.now() - turnBegan < turnMs) continue
      await nextTurn()
      turnBegan = performance.now()
    }
    yield format.tail
  }
}
