import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { invalid } from './config.ts'
import type { Environment } from './config.ts'

type Variables = Readonly<Record<string, string | undefined>>
type Place = {
  /** The value of SHOPSTEAD_ENV if the environment does not set it. */
  defaultEnv?: Environment | undefined
  /** The folder of `.env`. Default: the working directory. */
  folder?: string
}

/**
 * The `SHOPSTEAD_*` variables of the file that SHOPSTEAD_ENV_FILE names, else of `.env` in the working directory.
 * Production reads only a named file: `.env` may belong to another user, who could then redirect the live key.
 *
 * @throws AppError CONFIG_INVALID for a file that is missing, or that another user owns or can write, and for a `.env`
 *   that sets production
 */
export function readEnvFile(env: Variables, { defaultEnv, folder = '.' }: Place = {}): Variables {
  const named = env['SHOPSTEAD_ENV_FILE']
  if (named) return parse(readOwnFile(named))
  if ((env['SHOPSTEAD_ENV'] || defaultEnv) === 'production' || !hasEnvFile(folder)) return {}
  const values = parse(readFileSync(join(folder, '.env'), 'utf8'))
  if (values['SHOPSTEAD_ENV'] === 'production' && !env['SHOPSTEAD_ENV'])
    throw invalid('SHOPSTEAD_ENV_FILE', 'set to ".env": production reads only a file that is named explicitly')
  return values
}

/** Whether the folder, by default the working directory, has a `.env` file. */
export function hasEnvFile(folder = '.'): boolean {
  return statSync(join(folder, '.env'), { throwIfNoEntry: false })?.isFile() ?? false
}

function parse(text: string): Variables {
  return Object.fromEntries(Object.entries(parseEnv(text)).filter(([name]) => name.startsWith('SHOPSTEAD_')))
}

function readOwnFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw invalid('SHOPSTEAD_ENV_FILE', 'an existing file')
  const user = process.getuid?.()
  const isOwned = user === undefined || stats.uid === user || stats.uid === 0
  const isWritableByOthers = user !== undefined && (stats.mode & 0o022) !== 0
  if (!isOwned || isWritableByOthers) throw invalid('SHOPSTEAD_ENV_FILE', 'a file that only you or root can write')
  return readFileSync(path, 'utf8')
}
