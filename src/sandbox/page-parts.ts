import type { Context } from './context.ts'
import type { Store } from './object-store.ts'

/** What the hosted pages work with. */
export type PageParts = {
  store: Store
  act: <T>(work: (context: Context) => T) => { result: T; batch: string }
  /** Resolves when a transaction's webhooks were sent, so that the shop knows the result before the browser returns. */
  deliver: (batch: string) => Promise<void>
}
