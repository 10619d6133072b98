import { and, asc, count, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { toCsv, toCsvRows } from '../../platform/csv.ts'
import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import { statement, writeWhenFree } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { inParts } from '../../platform/db/in-parts.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import type { ShopContext } from '../context.ts'
import { setMarketingOptIn } from './create-user.ts'
import { findUserById } from './find.ts'
import type { UserRow } from './rows.ts'
import { users } from './schema.ts'

/** A person who wants news by email, with the proof of it that a shop must be able to show (GDPR, article 7(1)). */
export type Subscriber = {
  email: string
  name: string
  /** The language tag in which the person uses the shop; null for that of the shop. */
  language: string | null
  /** ISO 8601. */
  agreedAt: string | null
  agreedIn: UserRow['marketingOptInFrom']
  /** When a link that was sent to the email was used: the double opt-in. ISO 8601. */
  emailVerifiedAt: string | null
  /** Where anyone who has the link ends the consent. Put it into every email with news. */
  unsubscribeUrl: string
}

const agreed = and(eq(users.marketingOptIn, 'yes'), eq(users.status, 'active'))
const nextSubscribers = statement((orm) =>
  orm
    .select()
    .from(users)
    .where(and(gt(users.id, sql.placeholder('after')), agreed, isNotNull(users.emailVerifiedAt)))
    .orderBy(asc(users.id))
    .limit(sql.placeholder('limit'))
    .prepare()
)
const unproven = statement((orm) =>
  orm
    .select({ count: count() })
    .from(users)
    .where(and(agreed, isNull(users.emailVerifiedAt)))
    .prepare()
)

/** Everybody who wants news and has verified the email, by id. */
export function listSubscribers(shop: Pick<ShopContext, 'db' | 'keys' | 'publicUrl'>): Generator<Subscriber, void> {
  const next = (last: UserRow | undefined, limit: number): UserRow[] =>
    nextSubscribers(shop.db).all({ after: last?.id ?? 0, limit })
  return inParts(shop.db, next, (rows) =>
    rows.map((user) => ({
      email: user.email,
      name: user.displayName,
      language: user.language,
      agreedAt: toIsoOrNull(user.marketingOptInAt),
      agreedIn: user.marketingOptInFrom,
      emailVerifiedAt: toIsoOrNull(user.emailVerifiedAt),
      unsubscribeUrl: `${shop.publicUrl()}/unsubscribe/${unsubscribeToken(shop.keys, user.id)}`
    }))
  )
}

const consentColumns = [
  'email',
  'name',
  'language',
  'agreedAt',
  'agreedIn',
  'emailVerifiedAt',
  'unsubscribeUrl'
] as const satisfies readonly (keyof Subscriber)[]

/** People who want news as CSV, a part for each. */
export function* subscribersCsv(subscribers: Iterable<Subscriber>): Generator<string, void> {
  yield toCsv(consentColumns, [])
  for (const person of subscribers) yield toCsvRows([consentColumns.map((column) => person[column])])
}

/** How many people want news, but have not verified the email: anyone could have typed it. */
export function countUnprovenSubscribers(db: Db): number {
  return unproven(db).get()?.count ?? 0
}

const purpose = 'unsubscribe'
/** The last time that a date can have: an email of years ago must still be able to end the consent. */
const never = 8_640_000_000_000_000

function unsubscribeToken({ emailToken }: Pick<Keys, 'emailToken'>, id: number): string {
  return signLink(emailToken, { id, expiresAt: never }, purpose)
}

/** The account of a link; undefined for a link that the shop did not make, and for an account that is gone. */
export function findSubscriber({ db, keys }: Pick<ShopContext, 'db' | 'keys'>, token: string): UserRow | undefined {
  const link = readLink(token)
  if (link?.isSigned(keys.emailToken, purpose) !== true) return undefined
  const user = findUserById(db, link.id)
  return user?.status === 'erased' ? undefined : user
}

/** Ends the consent. Returns false for a link that the shop did not make; a second time changes nothing. */
export async function unsubscribe(shop: ShopContext, token: string, now: number): Promise<boolean> {
  const user = findSubscriber(shop, token)
  if (user === undefined) return false
  if (user.marketingOptIn === 'yes')
    await writeWhenFree(shop.db, (tx) => void setMarketingOptIn(tx, user.id, false, 'link', now))
  return true
}
