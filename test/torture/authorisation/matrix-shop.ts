import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../../src/platform/crypto/secrets.ts'
import { write } from '../../../src/platform/db/database.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { createUser } from '../../../src/shop/accounts/create-user.ts'
import { deactivateUser } from '../../../src/shop/accounts/deactivate.ts'
import { createEmailToken, deriveEmailToken, redeemEmailToken } from '../../../src/shop/accounts/email-tokens.ts'
import type { EmailTokenKind } from '../../../src/shop/accounts/email-tokens.ts'
import { issueNonce } from '../../../src/shop/accounts/nonce.ts'
import { endSession, startSession } from '../../../src/shop/accounts/sessions.ts'
import { createAffiliate } from '../../../src/shop/affiliates/create.ts'
import { confirmPayment } from '../../../src/shop/orders/transition.ts'
import { sealCursor } from '../../../src/shop/referrals/list.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { withoutHoldLimits } from '../../support/hold-limits.ts'
import { goodPassword } from '../../support/people.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { sendRequest, dataOf } from '../http-client.ts'
import type { Reply } from '../http-client.ts'
import type { Kind } from './kinds.ts'
import { storeAddress } from '../../../src/shop/customers/own-address.ts'
import { quay } from '../../support/addresses.ts'

/** A person who uses the shop. The ids and the session are null for a guest. */
export type Person = {
  kind: Kind
  id: number | null
  email: string
  password: string
  sessionToken: string | null
  sessionHash: string | null
  affiliateId: number | null
}

export const termsVersion = '2026-01-01'
export const ownersPassword = 'granite-willow-71'
export const freeItem = { productId: 1, quantity: 1 }
export const mug = { productId: 2, quantity: 1 }

/** The commission on seven mugs (10 %), an amount that no other referral of the matrix has. */
export const ownersCommission = '"amountMinor":875'

/** The shop's products: a free download and one with a price. */
export const shelf = {
  products: [
    {
      slug: 'sheet',
      name: 'Sheet',
      price: '0.00',
      type: 'digital',
      grants: [{ kind: 'download', file: 'sheet.txt', days: 30 }]
    },
    { slug: 'mug', name: 'Mug', price: '12.50' }
  ]
}

/** The hashes of the two passwords, computed once. */
export type Hashes = { caller: string; owner: string }

const openSettings: { [K in SettingKey]?: string } = {
  'storefront.enabled': 'true',
  'affiliates.termsVersion': termsVersion,
  'limits.register_ip': 'off',
  'limits.login_ip': 'off',
  'limits.login_account': 'off',
  'limits.checkout_ip': 'off',
  'limits.recovery_ip': 'off',
  'limits.recovery_email': 'off',
  'limits.token_ip': 'off',
  'limits.account_change': 'off',
  ...withoutHoldLimits
}

/** Sets up a shop for the matrix. Its own server can be stopped afterwards. */
export async function prepareShop({ app, dataDir }: RunningShop): Promise<Hashes> {
  for (const [key, value] of Object.entries(openSettings)) setSetting(app.db, key as SettingKey, value, Date.now())
  mkdirSync(join(dataDir, 'downloads'), { recursive: true })
  writeFileSync(join(dataDir, 'downloads', 'sheet.txt'), 'a sheet\n')
  const [caller, owner] = await Promise.all([goodPassword, ownersPassword].map((text) => app.passwords.hash(text)))
  return { caller: caller ?? '', owner: owner ?? '' }
}

/** The server under test, and its database, in which people are created directly. */
export class MatrixShop {
  readonly url: string
  readonly db: Db
  readonly keys: Keys
  private readonly hashes: Hashes
  private count = 0

  constructor(parts: { url: string; db: Db; keys: Keys; hashes: Hashes }) {
    this.url = parts.url
    this.db = parts.db
    this.keys = parts.keys
    this.hashes = parts.hashes
  }

  /** Creates a person. A `deactivated` one is still active, so that requests can be prepared; see deactivateIfNeeded. */
  createPerson(kind: Kind, name = 'caller'): Person {
    this.count += 1
    const email = `${name}-${this.count}@people.example`
    const base = { kind, id: null, email, password: goodPassword, sessionToken: null, sessionHash: null }
    if (kind === 'guest') return { ...base, affiliateId: null }
    const now = Date.now()
    return write(this.db, (tx) => {
      const isPending = kind === 'unverified'
      const { id } = createUser(
        tx,
        {
          email,
          displayName: `Name of ${name} ${this.count}`,
          passwordHash: name === 'owner' ? this.hashes.owner : this.hashes.caller,
          marketingOptIn: false,
          verified: !isPending,
          verificationPending: isPending,
          isAdmin: kind === 'administrator',
          termsAcceptedAt: now,
          privacyAcceptedAt: null
        },
        now
      )
      // Otherwise the account keeps that of its first order.
      storeAddress(tx, id, { ...quay, address2: '', state: '' }, { now })
      const session = isPending ? null : startSession(tx, { userId: id, rememberMe: false }, now)
      const status = kind === 'affiliate pending' ? 'pending' : kind === 'affiliate active' ? 'active' : null
      const code = `${name}-${this.count}`
      const affiliate = status === null ? null : createAffiliate(tx, { userId: id, code, status, rateBps: null }, now)
      return {
        kind,
        id,
        email,
        password: name === 'owner' ? ownersPassword : goodPassword,
        sessionToken: session?.token ?? null,
        sessionHash: session?.tokenHash ?? null,
        affiliateId: affiliate?.id ?? null
      }
    })
  }

  /** Deactivates a person of the kind `deactivated`. */
  deactivateIfNeeded(person: Person): void {
    const { kind, id } = person
    if (kind === 'deactivated' && id !== null) write(this.db, (tx) => void deactivateUser(tx, id, Date.now()))
  }

  /** A nonce as the service issues it to this person now. */
  nonceOf({ kind, sessionHash }: Person): string {
    return issueNonce(this.keys, kind === 'deactivated' ? null : sessionHash, Date.now())
  }

  /** The token of an email to this person, unused or used. */
  emailToken({ id }: Person, kind: EmailTokenKind, state: 'open' | 'used' = 'open'): string {
    if (id === null) return randomToken()
    return write(this.db, (tx) => {
      const now = Date.now()
      const newEmail = kind === 'email' ? `${randomToken(12)}@people.example` : null
      const token = deriveEmailToken(this.keys, createEmailToken(tx, this.keys, { kind, userId: id, newEmail }, now))
      if (state === 'used') redeemEmailToken(tx, kind, token, now)
      return token
    })
  }

  cursorOf({ affiliateId }: Person): string | null {
    return affiliateId === null ? null : sealCursor(this.keys.cursor, affiliateId, 1_000_000)
  }

  /** The token of an ended session of this person. */
  endedSession({ id }: Person): string {
    if (id === null) return randomToken()
    return write(this.db, (tx) => {
      const { token, tokenHash } = startSession(tx, { userId: id, rememberMe: false }, Date.now())
      endSession(tx, tokenHash)
      return token
    })
  }

  /** Sends a request to the API as this person. */
  api(person: Person, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
    return sendRequest(`${this.url}/api/v1${path}`, {
      headers: { ...cookieOf(person), ...headers },
      ...(body === undefined ? {} : { body })
    })
  }

  /** Creates an order of this person; returns its public token and its id. */
  async order(person: Person, item: object = mug): Promise<{ token: string; id: string }> {
    const answer = await this.api(person, '/store/checkout-session', { items: [item], shippingAddress: quay })
    const { orderToken: token, orderId: id } = dataOf<{ orderToken: string; orderId: string }>(answer)
    return { token, id }
  }

  /** Creates a referral of this affiliate with `ownersCommission`. */
  async createReferral({ affiliateId }: Person): Promise<void> {
    const code = this.db.sqlite.prepare('SELECT code FROM affiliates WHERE id = ?').pluck().get(affiliateId)
    const path = `/store/checkout-session?ref=${String(code)}`
    dataOf(await this.api(this.createPerson('customer'), path, { items: [{ ...mug, quantity: 7 }] }))
  }

  /** Marks an order as paid, as an operator does. */
  payByHand({ id }: { id: string }): void {
    write(this.db, (tx) => void confirmPayment(tx, Number(id), { by: 'operator', reason: 'paid' }, Date.now()))
  }

  /** Chooses payment by card for an order; returns the path of the gateway's page. */
  async payByCard(token: string): Promise<string> {
    const body = new URLSearchParams({ payment_method: 'card', email: 'buyer@people.example' })
    const { status, headers, text } = await sendRequest(`${this.url}/checkout/${token}`, { body })
    if (headers.location === undefined) throw new Error(`The payment was answered by ${status}: ${text.slice(0, 500)}`)
    return new URL(headers.location).pathname
  }

  /** The token of a download link of this person; an invalid one for a guest. */
  async download(person: Person): Promise<string> {
    if (person.sessionToken === null) return `999999.${(Date.now() + 3_600_000).toString(36)}.${randomToken()}`
    await this.order(person, freeItem)
    const { downloads } = dataOf<{ downloads: { url: string }[] }>(await this.api(person, '/me/downloads'))
    return downloads[0]?.url.split('/').at(-1) ?? ''
  }

  /** The id of a subscription of this person, created for the purpose; no valid one for a guest. */
  subscription({ id, sessionToken }: Person): number {
    if (sessionToken === null) return 999_998
    const row = this.db.sqlite.prepare(
      `INSERT INTO subscriptions (user_id, product_id, interval, is_pro, started_at, current_period_end)
       SELECT ?, min(id), 'month', 0, 0, 4e12 FROM products RETURNING id`
    )
    return (row.get(id) as { id: number }).id
  }

  /** The person's records, which no request of another person may change. */
  recordsOf({ id }: Person): string {
    const { sqlite } = this.db
    return JSON.stringify([
      sqlite.prepare('SELECT * FROM users WHERE id = ?').all(id),
      sqlite.prepare('SELECT * FROM affiliates WHERE user_id = ?').all(id),
      sqlite.prepare('SELECT token_hash FROM sessions WHERE user_id = ? ORDER BY token_hash').all(id)
    ])
  }
}

/** The Cookie header of a person's session; empty for a guest. */
export function cookieOf({ sessionToken }: Pick<Person, 'sessionToken'>): Record<string, string> {
  return sessionToken === null ? {} : { cookie: `shopstead_session=${sessionToken}` }
}

/** A random string that looks like a token. */
export function randomToken(length = 43): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
}

/** A token that differs from this one in its first character. */
export function similarToken(token: string): string {
  return `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
}
