import { CommanderError } from 'commander'
import { AppError } from '../errors.ts'
import { packageVersion } from '../platform/package-root.ts'
import { ShopCommand } from './run.ts'
import { groups, sections } from './groups.ts'
import { printError } from './terminal/output.ts'
import { processTerminal } from './terminal/terminal.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Runs one command line and returns its exit code when its work is done (a server's when it has stopped).
 *
 * @param argv the words after `shopstead`
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  if (argv[0] === 'complete') await (await import('./help/complete.ts')).complete(argv.slice(1), terminal)
  // `help orders refund` is `orders refund --help`, which loads that group only.
  else await run(argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv, terminal)
  return terminal.exitCode
}

async function run(argv: readonly string[], terminal: Terminal): Promise<void> {
  const json = argv.includes('--json')
  const program = new ShopCommand(terminal, 'shopstead')
    .description('A headless storefront and account service for a small shop.')
    .version(packageVersion())
    .commandsGroup(sections.help)
    .helpCommand('help [command]')
    .showHelpAfterError('(--help shows how it is used)')
    .addHelpText('after', '\nExample:\n  $ shopstead dev')
  try {
    const word = argv.find((one) => !one.startsWith('-'))
    for (const [use, heading] of Object.entries(sections)) {
      for (const group of groups.filter((one) => one.use === use)) {
        // Only the requested group is loaded: its help does not need the rest of the shop.
        if (word === group.name) (await group.load()).define(program)
        else program.command(group.name).description(group.about)
        program.commands.at(-1)?.helpGroup(heading)
      }
    }
    takeErrors(program, json)
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) return printError(terminal, error, json)
    terminal.exitCode = error.exitCode === 0 ? 0 : 2
    if (error.exitCode !== 0 && json)
      printError(terminal, new AppError('USAGE', error.message.replace(/^error: /, '')), true)
  }
}

/** Commander exits with 1 for wrong usage; this command line exits with 2. With --json, only the JSON says what is wrong. */
function takeErrors(command: ShopCommand, json: boolean): void {
  command.exitOverride()
  if (json) command.configureOutput({ writeErr: () => undefined })
  for (const child of command.commands) if (child instanceof ShopCommand) takeErrors(child, json)
}
