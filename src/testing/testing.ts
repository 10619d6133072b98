import type { TestShop, TestShopOptions } from './types.ts'

export type { TestMail, TestShop, TestShopOptions } from './types.ts'

/**
 * Starts a shop for tests in this process, on a free port, with payments by the sandbox and emails that `lastMail` reads.
 * Its data is in a temporary folder until `close`.
 *
 * @throws AppError for an invalid seed, setting or environment variable
 */
export async function startShop(options: TestShopOptions = {}): Promise<TestShop> {
  // The server is loaded by the first call, not by the import.
  const { openShop } = await import('./open-shop.ts')
  return openShop(options)
}
