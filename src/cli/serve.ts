import type { ShopCommand } from './command.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/log.ts'
import { addCommand, loadConfig, openApp } from './run.ts'
import type { CommonOptions } from './run.ts'

type ServeOptions = CommonOptions & { host?: string; port?: string; https?: boolean }

export function define(program: ShopCommand): void {
  const command = addServingOptions(addCommand(program, 'serve', 'run the production server', 'serve --port 3000'))
  command.action(async () => {
    const options = command.opts<ServeOptions>()
    const { terminal } = command
    const { checkServes } = await import('../platform/config/config.ts')
    const { operatorLog, serveUntilStopped } = await import('./serving.ts')
    const config = await loadConfig(terminal, options)
    checkServes(config)
    const app = await openApp(terminal, config, 'migrated')
    try {
      const say = operatorLog(app, terminal)
      warnOfMissingKeys(app.config, say)
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

/** A shop without Stripe's keys starts, because it can show its offers. Buyers cannot pay by card until they are set. */
function warnOfMissingKeys(config: Config, say: Pick<Logger, 'warn'>): void {
  if (!config.payments.includes('stripe')) return
  for (const [name, value] of [
    ['SHOPSTEAD_STRIPE_SECRET_KEY', config.stripe.secretKey],
    ['SHOPSTEAD_STRIPE_WEBHOOK_SECRET', config.stripe.webhookSecret]
  ] as const) {
    if (value === null) say.warn(`${name} is not set: card payments do not work until it is.`)
  }
}
