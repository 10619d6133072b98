import type { ShopCommand } from './command.ts'
import { wrap } from './output.ts'
import type { Answer } from './output.ts'
import { showProgress } from './progress.ts'
import { addCommand, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

export function define(program: ShopCommand): void {
  const about = 'what is well, what is not, and what to do about it; works with the server down'
  runsOnFiles(addCommand(program, 'health', about, 'health --json'), tell)
}

const marks = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' }
const margin = ' '.repeat(9)

async function tell(work: FileWork<object>): Promise<Answer> {
  const { diagnose } = await import('../operations/diagnosis/diagnose.ts')
  const progress = showProgress(work)
  progress.step('looking')
  const report = await diagnose(work.config).finally(progress.done)
  const human = report.checks.flatMap(({ status, name, message, advice }) => [
    ...`${marks[status]}  ${name}: ${message.replaceAll('\n', `\n${margin}`)}`
      .split('\n')
      .flatMap((line) => wrap(line, margin)),
    ...(status === 'ok' || advice === '' ? [] : wrap(`${margin}${advice}`, margin))
  ])
  return { json: report, human, exitCode: report.status === 'failed' ? 1 : 0 }
}
