import { databaseFile } from '../../app.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { refuseOldMachine } from '../../operations/replica/other-machine.ts'
import { endFollowing } from '../../operations/replica/role.ts'
import { demoLogins } from '../../operations/seeding/logins.ts'
import type { Config } from '../../platform/config/config.ts'
import { hasEnvFile } from '../../platform/config/env-file.ts'
import { describeError } from '../../platform/log.ts'
import type { Logger } from '../../platform/log.ts'
import { openApp } from '../run.ts'
import type { CommonOptions } from '../run.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Door } from '../../platform/http/listen.ts'
import { startServer } from '../../start-server.ts'
import type { RunningServer } from '../../start-server.ts'

export type ServeOptions = CommonOptions & { host?: string; port?: string; https?: boolean }

export type Selling = { terminal: Terminal; config: Config; options: ServeOptions }

/** What a server needs to take the place of one that follows. */
type TakingOver = Successor & { onListening: () => Promise<void> }

/**
 * Runs the server that sells, until the process receives a signal to stop.
 *
 * @throws AppError CONFLICT for the demo accounts in production, and when another machine has continued the replica
 */
export async function sell({ terminal, config, options }: Selling, takingOver?: TakingOver): Promise<void> {
  const app = await openApp(terminal, config, 'migrated')
  try {
    refuseDemoAccounts(app)
    await refuseOldMachine(config, app.log)
    const say = operatorLog(app, terminal)
    warnOfMissingKeys(app.config, say)
    warnOfUnreadFile(terminal, config, say)
    const announce = ({ url }: { url: string }): void => {
      const apiRoot = `${app.publicUrl()}${app.config.apiPrefix}`
      if (options.json && takingOver === undefined)
        terminal.stdout.write(`${JSON.stringify({ url, publicUrl: app.publicUrl(), apiRoot })}\n`)
      else say.info(`Shopstead listens on ${url} (API at ${apiRoot})`)
      void deleteCopies(app, takingOver)
    }
    await serveUntilStopped(app, terminal, announce, takingOver)
  } finally {
    app.close()
  }
}

/** A shop that sells needs no copies of a replica. */
async function deleteCopies({ config, log }: App, takingOver: TakingOver | undefined): Promise<void> {
  try {
    await takingOver?.onListening()
    endFollowing(config.dataDir)
  } catch (error) {
    log.warn('the copies of the replica cannot be deleted', { error: describeError(error) })
  }
}

/** @throws AppError CONFLICT in production if the shop has demo accounts, because their password is public */
function refuseDemoAccounts({ config, db }: App): void {
  if (config.env !== 'production') return
  const [demo] = demoLogins(db)
  if (demo === undefined) return
  throw new AppError(
    'CONFLICT',
    `This shop has the demo account ${demo.email}, whose password is public. Start with a new data folder, or set ` +
      'SHOPSTEAD_ENV=development to run the demo shop.'
  )
}

function warnOfUnreadFile({ env }: Terminal, config: Config, say: Pick<Logger, 'warn'>): void {
  if (config.env === 'production' && !env['SHOPSTEAD_ENV_FILE'] && hasEnvFile())
    say.warn('The file .env is not read in production. Set SHOPSTEAD_ENV_FILE to its path to use it.')
}

/** A shop without keys can show its offers, so it starts. Buyers cannot pay by card until the keys are set. */
function warnOfMissingKeys(config: Config, say: Pick<Logger, 'warn'>): void {
  if (!config.payments.includes('stripe')) return
  for (const [name, value] of [
    ['SHOPSTEAD_STRIPE_SECRET_KEY', config.stripe.secretKey],
    ['SHOPSTEAD_STRIPE_WEBHOOK_SECRET', config.stripe.webhookSecret]
  ] as const) {
    if (value === null) say.warn(`${name} is not set: card payments do not work until it is.`)
  }
}

/**
 * Where a server writes messages for its operator. Outside development, standard error contains only JSON log lines.
 */
export function operatorLog(
  { config, log }: Pick<App, 'config' | 'log'>,
  { messages }: Terminal
): Pick<Logger, 'info' | 'warn'> {
  if (config.env !== 'development') return log
  return { info: (text) => messages.info(text), warn: (text) => messages.warn(text) }
}

/** What a server needs to take the place of one that follows, in the same process. */
type Successor = {
  listen: Door['listen']
  /** The signal to stop, for which the process waits already. */
  stopped: Promise<void>
}

/**
 * Serves until the process receives a signal to stop, then finishes the open requests.
 *
 * @throws AppError CONFLICT when the database file was replaced
 * @param announce called when the server listens
 */
export async function serveUntilStopped(
  app: App,
  terminal: Terminal,
  announce: (server: RunningServer) => void,
  successor?: Successor
): Promise<void> {
  const stopped = successor?.stopped ?? terminal.untilStopped()
  const server = await startServer(app, successor?.listen)
  announce(server)
  const replaced = await Promise.race([stopped.then(() => false), server.databaseReplaced.then(() => true)])
  if (!replaced) operatorLog(app, terminal).info('Stopping after the open requests have finished.')
  await server.stop()
  if (!replaced) return
  const file = databaseFile(app.config)
  throw new AppError(
    'CONFLICT',
    `The database ${file} is no longer the file that the server has open: it was replaced, or its disk was unmounted. ` +
      'The server stops, so that no order is lost. Mount the disk of the shop and start it again.'
  )
}
