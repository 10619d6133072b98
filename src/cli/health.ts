import type { Command } from 'commander'
import { messages } from './output.ts'
import { addCommand, guarded, loadConfig } from './run.ts'
import { printAnswer } from './output.ts'
import type { CommonOptions } from './run.ts'

export function define(program: Command): void {
  const command = addCommand(
    program,
    'health',
    'what is well, what is not, and what to do about it; works with the server down',
    'health --json'
  )
  command.action(async () => {
    const options = command.opts<CommonOptions>()
    await guarded(options.json ?? false, async () => {
      const { createApp } = await import('../app.ts')
      const { diagnose } = await import('./diagnosis/diagnose.ts')
      const app = createApp(await loadConfig(options), { database: 'any' })
      try {
        const report = await diagnose(app)
        const marks = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' }
        const human = report.checks.flatMap(({ status, name, message, advice }) => [
          `${marks[status]}  ${name}: ${message}`,
          ...(status === 'ok' || advice === '' ? [] : [`         ${advice}`])
        ])
        printAnswer({ json: report, human, exitCode: report.status === 'failed' ? 1 : 0 }, options.json ?? false)
        if (report.status === 'failed') messages.error('Something needs you.')
      } finally {
        app.close()
      }
    })
  })
}
