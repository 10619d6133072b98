import type { ShopCommand } from '../run.ts'
import { addCommand, loadConfig } from '../run.ts'
import type { ServeOptions } from './sell.ts'

export function define(program: ShopCommand): void {
  const command = addServingOptions(addCommand(program, 'serve', 'run the production server', 'serve --port 3000'))
  command.option('--read-only', 'follow the replica and serve the catalog, until "shopstead promote"')
  command.action(async () => {
    const options = command.opts<ServeOptions & { readOnly?: boolean }>()
    const { terminal } = command
    const { checkServes } = await import('../../platform/config/config.ts')
    const config = await loadConfig(terminal, { ...options, defaultEnv: 'production' })
    checkServes(config)
    const serve = options.readOnly ? (await import('./follow.ts')).follow : (await import('./sell.ts')).sell
    await serve({ terminal, config, options })
  })
}

export function addServingOptions(command: ShopCommand): ShopCommand {
  return command
    .option('--host <host>', 'address to listen on (default: SHOPSTEAD_HOST or 127.0.0.1)')
    .option('--port <port>', 'port to listen on, 0 for any free port (default: SHOPSTEAD_PORT or 3000)')
    .option('--https', 'serve https with a self-signed certificate, for development')
}
