import { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** A command of the program. It and all its subcommands use one terminal. */
export class ShopCommand extends Command {
  readonly terminal: Terminal

  constructor(terminal: Terminal, name?: string) {
    super(name)
    this.terminal = terminal
    const { stdout, stderr } = terminal
    this.configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : undefined) ?? 80,
      getErrHelpWidth: () => (stderr.isTTY ? stderr.columns : undefined) ?? 80
    })
  }

  override createCommand(name?: string): ShopCommand {
    return new ShopCommand(this.terminal, name)
  }
}
