import type Stripe from 'stripe'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { Keys } from '../platform/crypto/secrets.ts'
import type { PasswordHasher } from '../platform/crypto/passwords.ts'
import type { Db } from '../platform/db/database.ts'
import type { RateLimiter } from '../platform/limits.ts'
import type { Logger } from '../platform/log.ts'
import type { SendToVies } from '../platform/vies.ts'

/** The card gateway that this installation uses: Stripe, or the sandbox behind the same client. */
export type CardGateway = {
  readonly name: 'stripe' | 'sandbox'
  /** Undefined while the credentials are missing; checkout then answers CHECKOUT_GATEWAY_NOT_CONFIGURED. */
  readonly client: (() => Promise<Stripe>) | undefined
  readonly webhookSecret: string | undefined
  readonly livemode: boolean
  /** What a site needs to show the gateway's payment form; missing without a publishable key. */
  readonly paymentForm?: () => { readonly publishableKey: string; readonly scriptUrl: string }
}

/** What every function of the shop may need; the composition root makes it, tests put their own parts in. */
export type ShopContext = {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly keys: Keys
  readonly passwords: PasswordHasher
  readonly limiter: RateLimiter
  /** Null when SHOPSTEAD_PAYMENTS is manual alone. */
  readonly cards: CardGateway | null
  /** VIES, or what stands in for it. */
  readonly vies: SendToVies
  /** Where browsers reach the pages, without a trailing slash. */
  readonly publicUrl: () => string
  /** The language tag of whom this shop serves, such as a request's buyer; without it, that of the setting. */
  readonly language?: string
}
