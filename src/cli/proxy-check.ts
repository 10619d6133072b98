import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import type { Finding } from '../proxy/check/check-proxy.ts'
import { printAnswer } from './output.ts'
import { addCommand } from './run.ts'
import type { CommonOptions } from './run.ts'

type CheckCommandOptions = CommonOptions & { listen?: string; service?: string }

/** Checks a site's own proxy against the rules of docs/interface.md. */
export function defineCheck(parent: ShopCommand): void {
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
    const { checkProxy } = await import('../proxy/check/check-proxy.ts')
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
