import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { databaseFile } from '../app.ts'
import type { App } from '../app.ts'

/** The header of /livez with the instance of the server that answers. */
export const instanceHeader = 'x-shopstead-instance'

/**
 * Identifies this shop's database file on this machine since it was booted; not secret. `shopstead health` compares it with
 * that of the server at the public URL: a copy of the shop on another machine has the same keys, but another instance.
 */
export function instanceOf({ config, keys }: Pick<App, 'config' | 'keys'>): string {
  const { dev, ino } = statSync(databaseFile(config))
  return hash('sha256', [keys.shopId, machine(), dev, ino].join(' '), 'hex').slice(0, 16)
}

/** Two machines with one image can have the same name and machine id, but not the same boot. */
function machine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Only Linux has this file.
    return hostname()
  }
}
