import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import type { Finding } from '../proxy/check/check.ts'
import { printAnswer } from './output.ts'
import { addCommand } from './run.ts'
import type { CommonOptions } from './run.ts'

type CheckCommandOptions = CommonOptions & { listen?: string; service?: string }

/** Tells a site that wrote its own proxy which rules it breaks. */
export function defineCheck(parent: ShopCommand): void {
  const about = 'hold a proxy against the rules for one, each by name; exit 1 when one is broken'
  const command = addCommand(parent, 'check <url>', about, 'proxy check https://www.example.com/api/secure')
    .option(
      '--listen <port>',
      "stand between: make http://127.0.0.1:PORT the proxy's upstream, and all rules are checked"
    )
    .option('--service <url>', 'where the service is that --listen hands on to')
  command.action(async (url: string) => {
    // Options that `proxy` has as well are taken for its own, wherever they stand.
    const options = command.optsWithGlobals<CheckCommandOptions>()
    const { terminal } = command
    const { checkProxy } = await import('../proxy/check/check.ts')
    const findings = await checkProxy({
      root: address(url, 'The URL'),
      intercept: interceptorOptions(options),
      onListening: (port) =>
        terminal.messages.info(`Listening in between on http://127.0.0.1:${port}; this takes half a minute.`)
    })
    printAnswer(terminal, answerOf(url, findings), options.json ?? false)
  })
}

function interceptorOptions({ listen, service }: CheckCommandOptions): { port: number; service: URL } | undefined {
  if (listen === undefined && service === undefined) return undefined
  if (listen === undefined || service === undefined || !/^\d{1,5}$/.test(listen))
    throw new AppError('USAGE', '--listen PORT and --service URL go together.')
  const root = address(service, '--service')
  return { port: Number(listen), service: root.pathname === '/' ? new URL('/api/v1', root) : root }
}

function address(text: string, what: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new AppError('USAGE', `${what} takes an http or https address.`)
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
