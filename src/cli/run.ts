import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { messages, printAnswer, printError } from './output.ts'
import type { Answer } from './output.ts'

/** Options that every command takes. */
export type CommonOptions = { json?: boolean; dataDir?: string }

/** What a command works with. */
export type Work<Options> = { app: App; options: Options & CommonOptions; now: number; json: boolean }

/**
 * Adds a command with the options that all share and an example under its help.
 *
 * @param usage name and arguments as commander writes them: `show <email>`
 */
export function addCommand(parent: Command, usage: string, about: string, example: string): Command {
  return parent
    .command(usage)
    .description(about)
    .option('--json', 'answer with one JSON document on standard output')
    .option('--data-dir <dir>', 'data folder (default: SHOPSTEAD_DATA_DIR or ./data)')
    .addHelpText('after', `\nExample:\n  $ shopstead ${example}`)
}

/**
 * Makes a command run `work` on an opened App, print what it answers, and end with the exit code that belongs to it.
 * The App is closed whatever happens.
 *
 * @param database what the command needs of the database (see createApp)
 */
export function runs<Options extends object, Args extends (string | string[] | undefined)[]>(
  command: Command,
  database: 'migrated' | 'create' | 'any',
  work: (work: Work<Options>, ...args: Args) => Answer | Promise<Answer>
): Command {
  return command.action(async (...given: unknown[]) => {
    const options = command.opts<Options & CommonOptions>()
    const args = given.slice(0, command.registeredArguments.length) as Args
    await guarded(options.json ?? false, async () => {
      const { createApp } = await import('../app.ts')
      const app = createApp(await loadConfig(options), { database })
      try {
        const answer = await work({ app, options, now: app.clock.now(), json: options.json ?? false }, ...args)
        printAnswer(answer, options.json ?? false)
      } finally {
        app.close()
      }
    })
  })
}

/** What a command works with that must not, or need not, open the shop. */
export type FileWork<Options> = { config: Config; options: Options & CommonOptions; now: number; json: boolean }

/** Like `runs`, for a command that works on the data folder with no App open. */
export function runsOnFiles<Options extends object>(
  command: Command,
  work: (work: FileWork<Options>, ...args: string[]) => Answer | Promise<Answer>
): Command {
  return command.action(async (...given: unknown[]) => {
    const options = command.opts<Options & CommonOptions>()
    const args = given.slice(0, command.registeredArguments.length) as string[]
    const json = options.json ?? false
    await guarded(json, async () => {
      const config = await loadConfig(options)
      printAnswer(await work({ config, options, now: systemClock.now(), json }, ...args), json)
    })
  })
}

/** Turns whatever goes wrong into a message and an exit code. */
export async function guarded(asJson: boolean, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    printError(error, asJson)
  }
}

/** The only place that reads the environment, `.env` of the working directory included. */
export async function loadConfig(flags: {
  host?: string | undefined
  port?: string | undefined
  https?: boolean | undefined
  dataDir?: string | undefined
  storefront?: boolean | undefined
}): Promise<Config> {
  const { existsSync } = await import('node:fs')
  const { parseConfig } = await import('../platform/config/config.ts')
  if (existsSync('.env')) process.loadEnvFile('.env')
  return parseConfig(process.env, flags)
}

/**
 * Asks before something that cannot be taken back.
 *
 * @throws AppError USAGE without `--yes` where nobody can be asked.
 */
export async function confirmOrRefuse(question: string, options: { yes?: boolean; json?: boolean }): Promise<void> {
  if (options.yes) return
  if (!process.stdin.isTTY || options.json) throw new AppError('USAGE', `${question} Say so with --yes.`)
  const sure = await messages.prompt(question, { type: 'confirm', initial: false, cancel: 'null' })
  if (sure !== true) throw new AppError('CONFLICT', 'Nothing was changed.')
}

/**
 * A password by prompt, or by standard input with `--password-stdin`; never by argument, where other users would see it.
 *
 * @throws AppError USAGE where there is neither.
 */
export async function readPassword(options: { passwordStdin?: boolean }, what = 'Password'): Promise<string> {
  if (options.passwordStdin) return firstLine(await readAll())
  if (!process.stdin.isTTY)
    throw new AppError('USAGE', 'There is no terminal to ask for the password: use --password-stdin.')
  const typed = await promptHidden(`${what}: `)
  if (typed !== (await promptHidden('Again: '))) throw new AppError('VALIDATION_FAILED', 'The two passwords differ.')
  return typed
}

async function readAll(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return text
}

function firstLine(text: string): string {
  const line = text.replace(/\r?\n[\s\S]*$/, '')
  if (line === '') throw new AppError('USAGE', 'Standard input holds no password.')
  return line
}

/** Reads a line without showing it. */
async function promptHidden(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  process.stderr.write(question)
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await reader.question('')
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}
