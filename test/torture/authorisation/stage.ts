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
import { createAffiliate } from '../../../src/shop/affiliates/create-affiliate.ts'
import { sealCursor } from '../../../src/shop/referrals/cursor.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import type { SettingKey } from '../../../src/shop/settings/definitions.ts'
import { goodPassword } from '../../support/people.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { sendRequest, dataOf } from '../http-client.ts'
import type { Reply } from '../http-client.ts'
import type { Kind } from './kinds.ts'

/** Somebody who comes to the shop; `id` and what hangs on it are null for who has no account. */
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
export const free = { productId: 1, quantity: 1 }
export const mug = { productId: 2, quantity: 1 }

/** Ten percent of seven mugs: what no other referral of the matrix comes to. */
export const ownersCommission = '"amountMinor":875'

/** What the shop of the matrix sells: something to download for nothing, and something to pay. */
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

/** Hashes of the two passwords there are, made once. */
export type Hashes = { caller: string; owner: string }

const openSettings: { [K in SettingKey]?: string } = {
  'storefront.enabled': 'true',
  'affiliates.termsVersion': termsVersion,
  'limits.register_ip': 'off',
  'limits.login_ip': 'off',
  'limits.login_account': 'off',
  'limits.checkout_ip': 'off',
  'limits.recovery_email': 'off',
  'limits.token_ip': 'off'
}

/** Readies a shop for the matrix; it needs no server of its own any more then. */
export async function furnish({ app, dataDir }: RunningShop): Promise<Hashes> {
  for (const [key, value] of Object.entries(openSettings)) setSetting(app.db, key as SettingKey, value, Date.now())
  mkdirSync(join(dataDir, 'downloads'), { recursive: true })
  writeFileSync(join(dataDir, 'downloads', 'sheet.txt'), 'a sheet\n')
  const [caller, owner] = await Promise.all([goodPassword, ownersPassword].map((text) => app.passwords.hash(text)))
  return { caller: caller ?? '', owner: owner ?? '' }
}

/** Where the matrix plays: a server, and a hand on its database by which people are made without its help. */
export class Stage {
  readonly url: string
  readonly db: Db
  readonly keys: Keys
  private readonly hashes: Hashes
  private made = 0

  constructor(parts: { url: string; db: Db; keys: Keys; hashes: Hashes }) {
    this.url = parts.url
    this.db = parts.db
    this.keys = parts.keys
    this.hashes = parts.hashes
  }

  /** Somebody new, who is not deactivated yet: he has what he has from before that. */
  enter(kind: Kind, name = 'caller'): Person {
    this.made += 1
    const email = `${name}-${this.made}@people.example`
    const nobody = { kind, id: null, email, password: goodPassword, sessionToken: null, sessionHash: null }
    if (kind === 'guest') return { ...nobody, affiliateId: null }
    const now = Date.now()
    return write(this.db, (tx) => {
      const isPending = kind === 'unverified'
      const { id } = createUser(
        tx,
        {
          email,
          displayName: `Name of ${name} ${this.made}`,
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
      const session = isPending ? null : startSession(tx, { userId: id, rememberMe: false }, now)
      const status = kind === 'affiliate pending' ? 'pending' : kind === 'affiliate active' ? 'active' : null
      const code = `${name}-${this.made}`
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

  /** A deactivated person is one from now on. */
  settle(person: Person): void {
    const { kind, id } = person
    if (kind === 'deactivated' && id !== null) write(this.db, (tx) => void deactivateUser(tx, id, Date.now()))
  }

  /** A nonce as the service would issue it to this person now. */
  nonceOf({ kind, sessionHash }: Person): string {
    return issueNonce(this.keys, kind === 'deactivated' ? null : sessionHash, Date.now())
  }

  /** The token of a message to this person, used up or not. */
  emailToken({ id }: Person, kind: EmailTokenKind, state: 'open' | 'used' = 'open'): string {
    if (id === null) return anyToken()
    return write(this.db, (tx) => {
      const now = Date.now()
      const token = deriveEmailToken(this.keys, createEmailToken(tx, this.keys, { kind, userId: id }, now))
      if (state === 'used') redeemEmailToken(tx, kind, token, now)
      return token
    })
  }

  cursorOf({ affiliateId }: Person): string | null {
    return affiliateId === null ? null : sealCursor(this.keys.cursor, affiliateId, 1_000_000)
  }

  /** A session of this person's that is over. */
  endedSession({ id }: Person): string {
    if (id === null) return anyToken()
    return write(this.db, (tx) => {
      const { token, tokenHash } = startSession(tx, { userId: id, rememberMe: false }, Date.now())
      endSession(tx, tokenHash)
      return token
    })
  }

  /** Sends something to the API as this person. */
  api(person: Person, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
    return sendRequest(`${this.url}/api/v1${path}`, {
      headers: { ...cookieOf(person), ...headers },
      ...(body === undefined ? {} : { body })
    })
  }

  /** The public token of a new order of this person's, and its number. */
  async order(person: Person, item: object = mug): Promise<{ token: string; id: string }> {
    const answer = await this.api(person, '/store/checkout-session', { items: [item] })
    const { checkoutUrl, orderId } = dataOf<{ checkoutUrl: string; orderId: string }>(answer)
    return { token: checkoutUrl.split('/').at(-1) ?? '', id: orderId }
  }

  /** Somebody buys by this affiliate's link, for `ownersCommission`. */
  async refer({ affiliateId }: Person): Promise<void> {
    const code = this.db.sqlite.prepare('SELECT code FROM affiliates WHERE id = ?').pluck().get(affiliateId)
    const path = `/store/checkout-session?ref=${String(code)}`
    dataOf(await this.api(this.enter('customer'), path, { items: [{ ...mug, quantity: 7 }] }))
  }

  /** The path of the gateway's page for an order that is to be paid by card. */
  async payByCard(token: string): Promise<string> {
    const body = new URLSearchParams({ payment_method: 'card', email: 'buyer@people.example' })
    const { headers } = await sendRequest(`${this.url}/checkout/${token}`, { body })
    return new URL(headers.location ?? '').pathname
  }

  /** The token of a link to something that this person bought; one that leads nowhere for who has no account. */
  async download(person: Person): Promise<string> {
    if (person.sessionToken === null) return `999999.${(Date.now() + 3_600_000).toString(36)}.${anyToken()}`
    await this.order(person, free)
    const { downloads } = dataOf<{ downloads: { url: string }[] }>(await this.api(person, '/me/downloads'))
    return downloads[0]?.url.split('/').at(-1) ?? ''
  }

  /** What must not change, whoever asks for what. */
  recordsOf({ id }: Person): string {
    const { sqlite } = this.db
    return JSON.stringify([
      sqlite.prepare('SELECT * FROM users WHERE id = ?').all(id),
      sqlite.prepare('SELECT * FROM affiliates WHERE user_id = ?').all(id),
      sqlite.prepare('SELECT token_hash FROM sessions WHERE user_id = ? ORDER BY token_hash').all(id)
    ])
  }
}

export function cookieOf({ sessionToken }: Pick<Person, 'sessionToken'>): Record<string, string> {
  return sessionToken === null ? {} : { cookie: `shopstead_session=${sessionToken}` }
}

/** Looks like a token, and is nobody's. */
export function anyToken(length = 43): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
}

/** Another token that differs from this one in its first character. */
export function beside(token: string): string {
  return `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
}
