/** What a shop for tests contains, and when it is. */
export type TestShopOptions = {
  /**
   * `demo` for the demo shop, or a catalog as an object in the format of a seed file (docs/contract.md A7), such as
   * `{ products: [{ slug: 'mug', name: 'Mug', price: '12.50' }] }`. Default: three products, `mug`, `lamp` and `print`.
   */
  seed?: 'demo' | object
  /** Where the clock of the shop stands still, until `advance`. Default: it runs. */
  clock?: Date | number
  /** Settings by key, as `shopstead settings set` takes them: `{ 'registration.emailVerification': 'true' }`. */
  settings?: Readonly<Record<string, string>>
  /** Environment variables of the shop (`SHOPSTEAD_…`). It reads no others. */
  env?: Readonly<Record<string, string>>
}

/** An email that the shop has sent. `links` are those of accounts, with their tokens. */
export type TestMail = {
  to: string
  subject: string
  text: string
  html: string
  links: { verify?: string; reset?: string; email?: string }
}

/** A running shop in this process. */
export type TestShop = AsyncDisposable & {
  /** Where it runs, such as `http://localhost:40123`: the API is below `/api/v1`, and the proxy below `/api/secure`. */
  url: string
  /** Makes the shop as it was after the start, at the same address and time. */
  reset(): Promise<void>
  /** Moves the clock of the shop, and does what is due then: payments, renewals, ends of orders, emails. */
  advance(ms: number): Promise<void>
  /** The last email that the shop has sent, or the last one to an address. */
  lastMail(to?: string): Promise<TestMail | undefined>
  /** Stops the shop and deletes its data. */
  close(): Promise<void>
}
