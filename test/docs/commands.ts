import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { ShopCommand } from '../../src/cli/run.ts'
import { groups } from '../../src/cli/groups.ts'
import { testTerminal } from '../support/command-line.ts'

/** The real command line, in which no command does anything. */
export async function idleProgram(): Promise<ShopCommand> {
  const program = new ShopCommand(testTerminal().terminal, 'shopstead').version('0.0.0')
  for (const group of groups) (await group.load()).define(program)
  idle(program)
  return program
}

function idle(command: Command): void {
  command.exitOverride()
  // Every command that does something takes --json; a group does not.
  if (command.options.some(({ long }) => long === '--json')) command.action(() => undefined)
  for (const child of command.commands) idle(child)
}

/** What is wrong with a command line; undefined when it would start its command. */
export function refusalOf(program: Command, args: readonly string[]): string | undefined {
  try {
    program.parse(args, { from: 'user' })
    return undefined
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? undefined : `shopstead ${args.join(' ')}: ${error.message}`
  }
}

/** The subcommands of a group, or of a command such as proxy. */
export function subcommandsOf(program: Command, name: string): string[] {
  const group = program.commands.find((command) => command.name() === name)
  return group?.commands.map((command) => command.name()) ?? []
}

/** The scripts of this package, and those of a site that "shopstead create" makes. */
export const npmScripts: ReadonlySet<string> = new Set(
  ['package.json', 'seeds/starters/plain/package.json'].flatMap((file) =>
    Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { scripts: Record<string, string> }).scripts)
  )
)
