import { AppError } from '../../../errors.ts'
import { openWordPress } from './database.ts'
import type { WordPress } from './database.ts'
import { loadDump } from './dump.ts'

export type Source = { wordPress: WordPress } & AsyncDisposable

/**
 * Opens a WordPress by the address of its database (`mysql://…` or `mariadb://…`), or from a SQL dump (dump.ts).
 *
 * @throws AppError USAGE for another address, and as openWordPress and loadDump
 */
export async function openSource(address: string, prefix?: string): Promise<Source> {
  if (/^(?:mysql|mariadb):\/\//.test(address)) return opened(address.replace(/^mariadb:/, 'mysql:'), prefix)
  if (/^\w+:\/\//.test(address))
    throw new AppError('USAGE', 'Pass mysql://user:password@host/database, or the file of a SQL dump.')
  const dump = await loadDump(address)
  try {
    return await opened(dump.url, prefix, () => dump[Symbol.asyncDispose]())
  } catch (error) {
    await dump[Symbol.asyncDispose]()
    throw error
  }
}

async function opened(url: string, prefix: string | undefined, release?: () => PromiseLike<void>): Promise<Source> {
  const wordPress = await openWordPress(url, prefix)
  return {
    wordPress,
    [Symbol.asyncDispose]: async () => {
      await wordPress.close()
      await release?.()
    }
  }
}
