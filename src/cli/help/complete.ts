import type { Command, Option } from 'commander'
import { ShopCommand, loadConfig } from '../run.ts'
import { groups } from '../groups.ts'
import { plain } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The last line for the scripts: whether they also offer file names. */
const offerFiles = ':0'
const noFiles = ':4'

/**
 * Answers a completion script: a suggestion on each line with its description, then whether to offer file names.
 *
 * @param words the words typed so far; the last one may be incomplete
 */
export async function complete(words: readonly string[], terminal: Terminal): Promise<void> {
  const typed = words[0] === '--' ? words.slice(1) : words
  const current = typed.at(-1) ?? ''
  const program = await programFor(typed[0], terminal)
  const { suggestions, files } = await suggest(program, typed.slice(0, -1), current, terminal)
  const lines = suggestions
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, about }) => `${value}\t${about.split('\n')[0] ?? ''}`)
  terminal.stdout.write(`${[...lines, files ? offerFiles : noFiles].join('\n')}\n`)
}

/** Loads only the group that was typed, because the user waits for the answer. */
async function programFor(word: string | undefined, terminal: Terminal): Promise<Command> {
  const program = new ShopCommand(terminal, 'shopstead')
  for (const group of groups) {
    if (group.name === word) (await group.load()).define(program)
    else program.command(group.name).description(group.about)
  }
  return program
}

type Suggestions = { suggestions: { value: string; about: string }[]; files: boolean }

async function suggest(
  program: Command,
  before: readonly string[],
  current: string,
  terminal: Terminal
): Promise<Suggestions> {
  const { command, positionals, option } = walk(program, before)
  if (option !== undefined) return { ...choices(option.argChoices), files: option.argChoices === undefined }
  if (current.startsWith('-')) {
    const visible = command.createHelp().visibleOptions(command)
    return {
      suggestions: visible.map((one) => ({ value: one.long ?? one.flags, about: one.description })),
      files: false
    }
  }
  if (command.commands.length > 0)
    return {
      suggestions: command.commands.map((one) => ({ value: one.name(), about: one.description() })),
      files: false
    }
  const declared = command.registeredArguments
  const argument = declared[positionals] ?? (declared.at(-1)?.variadic ? declared.at(-1) : undefined)
  if (argument === undefined) return { suggestions: [], files: false }
  const dataDir = dataDirIn(before)
  const names = await namesFor[`${command.parent?.name()} ${argument.name()}`]?.({ current, dataDir, terminal })
  if (names !== undefined) return { suggestions: names, files: false }
  return { ...choices(argument.argChoices), files: /file/i.test(argument.name()) }
}

type Asked = { current: string; dataDir: string | undefined; terminal: Terminal }

/** The names that an argument of a group can have, by the group and the argument. */
const namesFor: Readonly<Record<string, (asked: Asked) => Promise<Suggestions['suggestions']>>> = {
  'settings key': async () => described((await import('../../shop/settings/definitions.ts')).definitions),
  'modules name': async () => described((await import('../../shop/settings/modules.ts')).moduleTable),
  'offers slug': slugs,
  'images slug': slugs
}

/** The slugs of products that begin with what was typed; none if the shop cannot be read. */
async function slugs({ current, dataDir, terminal }: Asked): Promise<Suggestions['suggestions']> {
  try {
    const { slugsBeginning } = await import('../../operations/slugs.ts')
    const config = await loadConfig(terminal, dataDir === undefined ? {} : { dataDir })
    return slugsBeginning(config, current).map(({ slug, name }) => ({ value: slug, about: plain(name) }))
  } catch {
    return []
  }
}

function dataDirIn(words: readonly string[]): string | undefined {
  const at = words.indexOf('--data-dir')
  return at < 0 ? undefined : words[at + 1]
}

function described(table: Readonly<Record<string, { about: string }>>): Suggestions['suggestions'] {
  return Object.entries(table).map(([value, { about }]) => ({ value, about }))
}

function choices(values: readonly string[] | undefined): Pick<Suggestions, 'suggestions'> {
  return { suggestions: (values ?? []).map((value) => ({ value, about: '' })) }
}

/** The command that the words name, the number of its arguments so far, and the option whose value comes next. */
function walk(
  program: Command,
  words: readonly string[]
): { command: Command; positionals: number; option: Option | undefined } {
  let command = program
  let positionals = 0
  let option: Option | undefined
  for (const word of words) {
    if (option !== undefined) option = undefined
    else if (word.startsWith('-')) {
      const named = command.options.find(({ long, short }) => word === long || word === short)
      option = named !== undefined && (named.required || named.optional) ? named : undefined
    } else {
      const next = command.commands.find((one) => one.name() === word)
      if (next === undefined) positionals += 1
      else command = next
    }
  }
  return { command, positionals, option }
}
