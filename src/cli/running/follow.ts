import { setTimeout as pause } from 'node:timers/promises'
import { migrateShop } from '../../operations/backup/backups.ts'
import { refuseOldMachine } from '../../operations/replica/other-machine.ts'
import { isPromoted, unmarkPromoted } from '../../operations/replica/role.ts'
import { startFollowingServer } from '../../follow-server.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Replica } from '../../platform/config/replica.ts'
import { openDoor } from '../../platform/http/listen.ts'
import type { Door } from '../../platform/http/listen.ts'
import { createLogger, describeError } from '../../platform/log.ts'
import type { Logger } from '../../platform/log.ts'
import { transportSecurity } from '../../web-app.ts'
import { drainMs } from '../../start-server.ts'
import { followedReplica } from './replica.ts'
import { openApp } from '../run.ts'
import { sell, operatorLog } from './sell.ts'
import type { Selling } from './sell.ts'
import type { Terminal } from '../terminal/terminal.ts'

const lookForPromotionMs = 500

/**
 * Serves the catalog of a replica until the process receives a signal to stop. Once `promote` has made this data folder the
 * shop, it sells, in the same process and on the same port; so does each later start, unless another machine has continued
 * the replica.
 *
 * @throws AppError USAGE without a replica
 */
export async function follow({ terminal, config, options }: Selling): Promise<void> {
  const replica = followedReplica(config)
  const { env, log: level } = config
  const log = createLogger({ env, level, output: terminal.stderr })
  const say = operatorLog({ config, log }, terminal)
  if (await isShop(config, log)) {
    say.info('This machine was promoted: it sells.')
    await migratePromoted(terminal, config)
    return sell({ terminal, config, options })
  }
  const { host, port, https } = config
  const stopped = terminal.untilStopped()
  const door = await openDoor({ host, port, https, headers: transportSecurity({ config }), log })
  try {
    const server = await startFollowingServer({ config, replica, door, log })
    const publicUrl = config.publicUrl ?? door.url
    if (options.json) terminal.stdout.write(`${JSON.stringify({ url: door.url, publicUrl, readOnly: true })}\n`)
    else say.info(announcement(door.url, replica))
    const promoted = await untilPromoted(config.dataDir, stopped)
    await server.stop()
    if (!promoted) {
      await door.close({ graceMs: drainMs })
      return server.close()
    }
    say.info('This machine has been promoted: it sells from now on.')
    await migratePromoted(terminal, config)
    const listen: Door['listen'] = async (next) => ({ ...(await door.listen(next)), close: door.close })
    await sell({ terminal, config, options }, { listen, stopped, onListening: server.close })
  } finally {
    await door.close({ graceMs: drainMs })
  }
}

function announcement(url: string, { address }: Replica): string {
  return `Shopstead listens on ${url}, follows ${address} and serves only the catalog. "shopstead promote" makes it the shop.`
}

/** A promoted machine is the shop, until another machine continues the replica. */
async function isShop(config: Config, log: Logger): Promise<boolean> {
  if (!isPromoted(config.dataDir)) return false
  try {
    await refuseOldMachine(config, log)
    return true
  } catch (error) {
    log.warn('another machine has continued the replica: this one follows it', { error: describeError(error) })
    unmarkPromoted(config.dataDir)
    return false
  }
}

/** The first machine may have had an older version of Shopstead. */
async function migratePromoted(terminal: Terminal, config: Config): Promise<void> {
  const app = await openApp(terminal, config, 'any')
  try {
    await migrateShop(app)
  } finally {
    app.close()
  }
}

/** Waits for a promotion, or for the signal to stop; false for the signal. */
async function untilPromoted(dataDir: string, stopped: Promise<void>): Promise<boolean> {
  const isStopped = stopped.then(() => true)
  while (!isPromoted(dataDir)) {
    if (await Promise.race([pause(lookForPromotionMs, false), isStopped])) return false
  }
  return true
}
