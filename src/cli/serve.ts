import { AppError } from '../errors.ts'
import type { App } from '../app.ts'
import type { ShopCommand } from './command.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/log.ts'
import { addCommand, loadConfig, openApp } from './run.ts'
import type { CommonOptions } from './run.ts'
import { demoLogins } from '../operations/seeding/logins.ts'
import { hasEnvFile } from '../platform/config/env-file.ts'
import type { Terminal } from './terminal.ts'

type ServeOptions = CommonOptions & { host?: string; port?: string; https?: boolean }

export function define(program: ShopCommand): void {
  const command = addServingOptions(addCommand(program, 'serve', 'run the production server', 'serve --port 3000'))
  command.action(async () => {
    const options = command.opts<ServeOptions>()
    const { terminal } = command
    const { checkServes } = await import('../platform/config/config.ts')
    const { operatorLog, serveUntilStopped } = await import('./serving.ts')
    const { refuseOldMachine } = await import('../operations/replica/other-machine.ts')
    const config = await loadConfig(terminal, { ...options, defaultEnv: 'production' })
    checkServes(config)
    const app = await openApp(terminal, config, 'migrated')
    try {
      refuseDemoAccounts(app)
      await refuseOldMachine(config, app.log)
      const say = operatorLog(app, terminal)
      warnOfMissingKeys(app.config, say)
      warnOfUnreadFile(terminal, config, say)
      await serveUntilStopped(app, terminal, ({ url }) => {
        const apiRoot = `${app.publicUrl()}${app.config.apiPrefix}`
        if (options.json) terminal.stdout.write(`${JSON.stringify({ url, publicUrl: app.publicUrl(), apiRoot })}\n`)
        else say.info(`Shopstead listens on ${url} (API at ${apiRoot})`)
      })
    } finally {
      app.close()
    }
  })
}

export function addServingOptions(command: ShopCommand): ShopCommand {
  return command
    .option('--host <host>', 'address to listen on (default: SHOPSTEAD_HOST or 127.0.0.1)')
    .option('--port <port>', 'port to listen on, 0 for any free port (default: SHOPSTEAD_PORT or 3000)')
    .option('--https', 'serve https with a self-signed certificate, for development')
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
