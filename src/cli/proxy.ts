import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/log.ts'
import { defineCheck } from './proxy-check.ts'
import { addCommand, loadConfig } from './run.ts'
import type { CommonOptions } from './run.ts'
import type { Terminal } from './terminal.ts'

type ProxyCommandOptions = CommonOptions & { upstream?: string; host: string; port: string }

export function define(program: ShopCommand): void {
  const about = 'run the first-party proxy for a service on another origin'
  const command = addCommand(program, 'proxy', about, 'proxy --upstream http://127.0.0.1:3000 --port 8080')
    .option('--upstream <url>', 'origin of the service, or its api_root if that is not /api/v1')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on, 0 for any free port', '8080')
  defineCheck(command)
  command.action(() => serveProxy(command.terminal, command.opts<ProxyCommandOptions>()))
}

/** Runs until it is stopped. To limit each client, the service must list this machine in SHOPSTEAD_TRUSTED_PROXIES. */
async function serveProxy(terminal: Terminal, options: ProxyCommandOptions): Promise<void> {
  const { listenHttp } = await import('../platform/http/listen.ts')
  const { createLogger } = await import('../platform/log.ts')
  const config = await loadConfig(terminal, { host: options.host, port: options.port })
  const log = createLogger({ env: config.env, level: config.log, output: terminal.stderr })
  const handle = await createHandle(options.upstream, config, log)
  const listener = await listenHttp({ handle, host: config.host, port: config.port, log })
  const proxyRoot = `${listener.url}/api/secure`
  if (options.json) terminal.stdout.write(`${JSON.stringify({ url: listener.url, proxyRoot })}\n`)
  else terminal.messages.success(`The proxy listens on ${proxyRoot}`)
  await terminal.untilStopped()
  await listener.close({ graceMs: 10_000 })
}

async function createHandle(
  upstream: string | undefined,
  config: Config,
  log: Logger
): Promise<(request: Request) => Promise<Response>> {
  const { createProxy } = await import('../proxy/proxy.ts')
  const { clientAddress, parseTrustedProxies } = await import('../platform/http/client-address.ts')
  const { socketAddress } = await import('../platform/http/request.ts')
  const { describeError } = await import('../platform/log.ts')
  const { clientLog } = await import('../platform/repeated-lines.ts')
  if (upstream === undefined) throw new AppError('USAGE', 'Pass the address of the service with --upstream URL.')
  const trusted = parseTrustedProxies(config.trustedProxies)
  try {
    return createProxy({
      upstream,
      publicUrl: config.publicUrl ?? '',
      origins: config.origins,
      development: config.env === 'development',
      clientAddress: (request) =>
        clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted),
      onFailure: (error) => clientLog(log).error('the service could not be reached', { error: describeError(error) })
    })
  } catch (cause) {
    throw new AppError('USAGE', '--upstream must be an http or https address.', {}, { cause })
  }
}
