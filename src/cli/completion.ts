import { Argument } from 'commander'
import type { ShopCommand } from './command.ts'
import { completionScripts, shells } from './completion-scripts.ts'
import type { Shell } from './completion-scripts.ts'
import { printAnswer } from './output.ts'
import { addCommand } from './run.ts'
import type { CommonOptions } from './run.ts'

/** Prints the completion script of a shell. The script calls `shopstead complete -- WORDS` when Tab is pressed. */
export function define(program: ShopCommand): void {
  const about = 'print a script that completes commands, options and their values'
  const command = addCommand(program, 'completion', about, 'completion bash > /etc/bash_completion.d/shopstead')
  command.addArgument(new Argument('<shell>').choices([...shells])).action(async (shell: Shell) => {
    const script = completionScripts[shell]
    await printAnswer(
      command.terminal,
      { json: { shell, script }, human: script.trimEnd() },
      command.opts<CommonOptions>().json ?? false
    )
  })
}
