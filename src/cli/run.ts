import { text } from 'node:stream/consumers'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { actAs } from '../platform/actor.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config, ConfigFlags } from '../platform/config/config.ts'
import { printAnswer } from './terminal/output.ts'
import type { Answer } from './terminal/output.ts'
import { ask, operatorName } from './terminal/terminal.ts'
import type { Terminal } from './terminal/terminal.ts'
import { Command } from 'commander'

/** Options of every command. */
export type CommonOptions = { json?: boolean; dataDir?: string }

/** The input of a command that opens the shop. */
export type Work<Options> = {
  app: App
  options: Options & CommonOptions
  now: number
  json: boolean
  terminal: Terminal
}

/**
 * Adds a command with the common options and an example in its help.
 *
 * @param usage name and arguments as commander writes them: `show <email>`
 */
export function addCommand(parent: ShopCommand, usage: string, about: string, example: string): ShopCommand {
  return parent
    .command(usage)
    .description(about)
    .option('--json', 'print one JSON document on standard output')
    .option('--data-dir <dir>', 'data folder (default: SHOPSTEAD_DATA_DIR or ./data)')
    .addHelpText('after', `\nExample:\n  $ shopstead ${example}`)
}

type Argument = string | string[] | undefined
type Database = 'migrated' | 'create' | 'any'

/**
 * Makes a command run `work` on an opened App and print its answer. The App is always closed. An error of `work` is
 * thrown and decides the exit code.
 *
 * @param database what the command needs of the database (see createApp)
 */
export function runs<Options extends object, Args extends Argument[]>(
  command: ShopCommand,
  work: (work: Work<Options>, ...args: Args) => Answer | Promise<Answer>,
  database: Database = 'migrated'
): ShopCommand {
  return acts<Options, Args>(command, async ({ config, ...given }, args) => {
    const app = await openApp(given.terminal, config, database)
    const answer = (): Answer | Promise<Answer> => work({ ...given, app, now: app.clock.now() }, ...args)
    try {
      // Lists are read while they are printed, so the App is still open.
      await printAnswer(given.terminal, await actAs(operatorName(given.terminal), answer), given.json)
    } finally {
      app.close()
    }
  })
}

/** The input of a command that does not open the shop. */
export type FileWork<Options> = Omit<Work<Options>, 'app'> & { config: Config }

/** Like `runs`, for a command that uses the data folder without an App. */
export function runsOnFiles<Options extends object, Args extends Argument[]>(
  command: ShopCommand,
  work: (work: FileWork<Options>, ...args: Args) => Answer | Promise<Answer>
): ShopCommand {
  return acts<Options, Args>(command, async (given, args) => {
    await printAnswer(given.terminal, await work(given, ...args), given.json)
  })
}

function acts<Options extends object, Args extends Argument[]>(
  command: ShopCommand,
  act: (work: FileWork<Options>, args: Args) => Promise<void>
): ShopCommand {
  return command.action(async (...values: unknown[]) => {
    const options = command.opts<Options & CommonOptions>()
    // Commander passes what the usage of the command declares, which decides Args.
    const args = values.slice(0, command.registeredArguments.length) as Args
    const { terminal } = command
    terminal.giveWay()
    const config = await loadConfig(terminal, options)
    await act({ config, options, now: systemClock.now(), json: options.json ?? false, terminal }, args)
  })
}

/**
 * Checks that a command can print a link that works for other people. A server knows its address when it listens; a
 * command has only the setting.
 *
 * @throws AppError CONFIG_INVALID without SHOPSTEAD_PUBLIC_URL
 */
export function assertPublicUrl({ config }: Pick<App, 'config'>): void {
  if (config.publicUrl !== null) return
  const rule = 'SHOPSTEAD_PUBLIC_URL must be set to the address that browsers open, such as https://shop.example.'
  throw new AppError('CONFIG_INVALID', `The answer has a link to the shop: ${rule}`, {
    variable: 'SHOPSTEAD_PUBLIC_URL'
  })
}

/** Opens the shop for a command; its log goes to the command's terminal. @throws the errors of createApp */
export async function openApp(terminal: Terminal, config: Config, database: Database): Promise<App> {
  const { createApp } = await import('../app.ts')
  const { createLogger } = await import('../platform/log.ts')
  await refuseOnFollower(config)
  const log = createLogger({ env: config.env, level: config.log, output: terminal.stderr })
  return createApp(config, { database }, { log })
}

/** @throws AppError CONFLICT when the machine follows a replica and has no shop of its own */
async function refuseOnFollower(config: Config): Promise<void> {
  const { existsSync } = await import('node:fs')
  const { databaseFile } = await import('../app.ts')
  const { isFollower } = await import('../operations/replica/role.ts')
  if (!isFollower(config.dataDir) || existsSync(databaseFile(config))) return
  throw new AppError(
    'CONFLICT',
    'This machine follows the replica of another one and has no shop of its own. "shopstead promote" makes it the shop.'
  )
}

/**
 * Reads the configuration from the environment and its file. Root becomes the owner of the data folder (see actAsOwner).
 *
 * @throws AppError CONFIG_INVALID with the variable and what it accepts
 */
export async function loadConfig({ env, messages }: Terminal, flags: ConfigFlags): Promise<Config> {
  const { parseConfig } = await import('../platform/config/config.ts')
  const { readEnvFile } = await import('../platform/config/env-file.ts')
  const config = parseConfig({ ...readEnvFile(env, flags), ...env }, flags)
  if (process.geteuid?.() === 0) {
    const { actAsOwner } = await import('../operations/act-as-owner.ts')
    const warning = actAsOwner(config.dataDir)
    if (warning !== undefined) messages.warn(warning)
  }
  return config
}

/**
 * Asks for confirmation.
 *
 * @throws AppError USAGE without `--yes` and without a terminal; CONFLICT when the answer is no
 */
export async function confirmOrRefuse(
  terminal: Terminal,
  question: string,
  options: { yes?: boolean; json?: boolean }
): Promise<void> {
  if (options.yes) return
  if (!terminal.stdin.isTTY || options.json) throw new AppError('USAGE', `${question} Pass --yes to confirm.`)
  if (!(await terminal.confirm(question))) throw new AppError('CONFLICT', 'Nothing was changed.')
}

/**
 * Reads a password by a prompt, or from standard input with `--password-stdin`. It is never an argument, because other
 * users of the machine see arguments.
 *
 * @param check throws for a password that is not allowed, before it is asked for again
 * @throws AppError USAGE without a terminal and without input; VALIDATION_FAILED when the two passwords differ; CONFLICT
 *   when the operator ends the prompt
 */
export async function readPassword(
  terminal: Terminal,
  options: { passwordStdin?: boolean },
  check: (password: string) => Promise<void>
): Promise<string> {
  const { stdin } = terminal
  if (options.passwordStdin) return firstLine(await text(stdin))
  if (!stdin.isTTY) throw new AppError('USAGE', 'There is no terminal for a prompt. Use --password-stdin.')
  const typed = await promptHidden(terminal, 'Password: ')
  await check(typed)
  if (typed !== (await promptHidden(terminal, 'Again: ')))
    throw new AppError('VALIDATION_FAILED', 'The two passwords are different.')
  return typed
}

function firstLine(input: string): string {
  const line = input.split(/\r?\n/, 1)[0] ?? ''
  if (line === '') throw new AppError('USAGE', 'Standard input contains no password.')
  return line
}

/** @throws AppError CONFLICT for Ctrl-C and Ctrl-D */
async function promptHidden(terminal: Terminal, question: string): Promise<string> {
  const typed = await ask(terminal, question, { isHidden: true })
  if (typed === null) throw new AppError('CONFLICT', 'Nothing was changed.')
  return typed
}

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
