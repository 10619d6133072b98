import type { ShopCommand, CommonOptions } from '../run.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Logger } from '../../platform/log.ts'
import { addCommand, loadConfig } from '../run.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Finding } from '../../proxy/check/check-proxy.ts'
import { printAnswer } from '../terminal/output.ts'

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
  const { listenHttp } = await import('../../platform/http/listen.ts')
  const { createLogger } = await import('../../platform/log.ts')
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
  const { createProxy } = await import('../../proxy/proxy.ts')
  const { clientAddress, parseTrustedProxies } = await import('../../platform/http/client-address.ts')
  const { socketAddress } = await import('../../platform/http/client-address.ts')
  const { describeError } = await import('../../platform/log.ts')
  const { clientLog } = await import('../../platform/log.ts')
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

type CheckCommandOptions = CommonOptions & { listen?: string; service?: string }

/** Checks a site's own proxy against the rules of docs/interface.md. */
function defineCheck(parent: ShopCommand): void {
  const about = 'check a proxy against the rules for proxies; exit code 1 when one is broken'
  const command = addCommand(parent, 'check <url>', about, 'proxy check https://www.example.com/api/secure')
    .option(
      '--listen <port>',
      "listen between proxy and service to check all rules; the proxy's upstream must be http://127.0.0.1:PORT"
    )
    .option('--service <url>', 'address of the service, for --listen')
  command.action(async (url: string) => {
    // Commander assigns options that `proxy` also has to `proxy`, wherever they are on the command line.
    const options = command.optsWithGlobals<CheckCommandOptions>()
    const { terminal } = command
    const { checkProxy } = await import('../../proxy/check/check-proxy.ts')
    const findings = await checkProxy({
      root: address(url, 'The URL'),
      intercept: interceptorOptions(options),
      onListening: (port) =>
        terminal.messages.info(`Listening on http://127.0.0.1:${port}. The check takes half a minute.`)
    })
    await printAnswer(terminal, answerOf(url, findings), options.json ?? false)
  })
}

function interceptorOptions({ listen, service }: CheckCommandOptions): { port: number; service: URL } | undefined {
  if (listen === undefined && service === undefined) return undefined
  if (listen === undefined || service === undefined || !/^\d{1,5}$/.test(listen))
    throw new AppError('USAGE', 'Pass --listen PORT and --service URL together.')
  const root = address(service, '--service')
  return { port: Number(listen), service: root.pathname === '/' ? new URL('/api/v1', root) : root }
}

function address(text: string, what: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new AppError('USAGE', `${what} must be an http or https address.`)
  return url
}

function answerOf(url: string, findings: readonly Finding[]) {
  const counted = (status: Finding['status']): number => findings.filter((finding) => finding.status === status).length
  const broken = counted('broken')
  const unchecked = counted('unchecked')
  const marks = { kept: 'ok       ', broken: 'broken   ', unchecked: 'unchecked' }
  const lines = findings.flatMap(({ rule, says, status, problems }) => [
    `${marks[status]}  ${rule}`,
    ...(status === 'broken' ? [`           ${says}`] : []),
    ...problems.map((problem) => `           ${problem}`)
  ])
  const summary = `${findings.length - broken - unchecked} rules kept, ${broken} broken, ${unchecked} unchecked.`
  return {
    json: { url, kept: broken === 0, rules: findings },
    human: [...lines, summary],
    exitCode: broken === 0 ? 0 : 1
  }
}
