import type { CheckStatus } from '../../operations/diagnosis/check.ts'
import { coloured } from '../terminal/terminal.ts'
import type { ShopCommand, FileWork } from '../run.ts'
import { wrap, showProgress } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, runsOnFiles } from '../run.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function define(program: ShopCommand): void {
  const about = 'what is well, what is not, and what to do about it; works with the server down'
  const command = addCommand(program, 'health', about, 'health --json')
  command.option('--deep', 'read all of a database over 100 MB, too: 12 seconds for each gigabyte')
  runsOnFiles(command, tell)
}

const marks = {
  ok: ['green', 'ok     '],
  warning: ['yellow', 'warning'],
  failed: ['red', 'FAILED ']
} as const
const margin = ' '.repeat(9)

async function tell(work: FileWork<{ deep?: boolean }>): Promise<Answer> {
  const { diagnose } = await import('../../operations/diagnosis/diagnose.ts')
  const progress = showProgress(work)
  const onCheck = (name: string): void => progress.step(`checking: ${name}`)
  const isDeep = work.options.deep === true
  const report = await diagnose(work.config, {}, { isDeep, onCheck }).finally(progress.done)
  const human = report.checks.flatMap(({ status, name, message, advice }) => [
    ...`${marks[status][1]}  ${name}: ${message.replaceAll('\n', `\n${margin}`)}`
      .split('\n')
      .flatMap((line) => wrap(line, margin))
      // The escape codes have no width, so they come after the lines are broken.
      .map((line, index) => (index === 0 ? withColour(line, status, work.terminal) : line)),
    ...(status === 'ok' || advice === '' ? [] : wrap(`${margin}${advice}`, margin))
  ])
  return { json: report, human, exitCode: report.status === 'failed' ? 1 : 0 }
}

function withColour(line: string, status: CheckStatus, terminal: Terminal): string {
  const [format, mark] = marks[status]
  return coloured(terminal, format, mark) + line.slice(mark.length)
}
