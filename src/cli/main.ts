import { Command, CommanderError } from 'commander'
import { packageVersion } from '../platform/package-root.ts'
import { keepTickShape } from '../platform/tick-shape.ts'
import { groups } from './groups.ts'
import { endQuietlyOnBrokenPipe, printError } from './output.ts'
import { AppError } from '../errors.ts'

/** Runs one command line; sets process.exitCode and returns when its work is done (a server's when it has stopped). */
export async function main(argv: readonly string[]): Promise<void> {
  keepTickShape()
  endQuietlyOnBrokenPipe()
  if (argv[0] === 'complete') return (await import('./complete.ts')).complete(argv.slice(1))
  const program = new Command('shopstead')
    .description('A headless storefront and account service for a small shop.')
    .version(packageVersion())
    .showHelpAfterError('(--help shows how it is used)')
    .addHelpText('after', '\nExample:\n  $ shopstead dev')
  try {
    for (const group of groups) {
      // Only the group that was asked for is loaded: the rest of the shop need not be read to print its help.
      if (argv.find((word) => !word.startsWith('-')) === group.name) (await group.load()).define(program)
      else program.command(group.name).description(group.about)
    }
    applyExitCodes(program)
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) return printError(error, argv.includes('--json'))
    process.exitCode = error.exitCode === 0 ? 0 : 2
    if (error.exitCode !== 0 && argv.includes('--json')) {
      printError(new AppError('USAGE', error.message.replace(/^error: /, '')), true)
    }
  }
}

/** Commander would leave with 1 for wrong usage; here that is 2. */
function applyExitCodes(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) applyExitCodes(child)
}
