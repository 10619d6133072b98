import { Argument } from 'commander'
import { AppError } from '../errors.ts'
import type { ShopCommand } from './command.ts'
import { completionScript, shells } from './completion-scripts.ts'
import type { Shell } from './completion-scripts.ts'
import { printAnswer } from './output.ts'
import { addCommand } from './run.ts'
import type { CommonOptions } from './run.ts'

/** Prints the completion script of a shell. The script calls `shopstead complete -- WORDS` when Tab is pressed. */
export function define(program: ShopCommand): void {
  const about = 'print a script that completes commands, options and their values'
  const command = addCommand(program, 'completion', about, 'completion bash > /etc/bash_completion.d/shopstead')
  command
    .addArgument(new Argument('<shell>').choices([...shells]))
    .option('--command <name>', 'complete a wrapper of this name', parseName, 'shopstead')
    .action(async (shell: Shell) => {
      const { json = false, command: name } = command.opts<CommonOptions & { command: string }>()
      const script = completionScript(shell, name)
      await printAnswer(command.terminal, { json: { shell, script }, human: script.trimEnd() }, json)
    })
}

/** A name that is safe in a script. @throws AppError USAGE */
function parseName(text: string): string {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(text)) throw new AppError('USAGE', '--command takes a name such as shop.')
  return text
}
