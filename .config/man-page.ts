import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import type { Plugin } from 'rolldown'
import { groups, sections } from '../src/cli/groups.ts'
import { ShopCommand } from '../src/cli/run.ts'
import { processTerminal } from '../src/cli/terminal/terminal.ts'
import { packageVersion } from '../src/platform/package-root.ts'

const file = 'dist/shopstead.1'
/** The options of every command, which the page describes once. */
const everywhere = new Set(['--json', '--data-dir', '--help'])

/** Writes the manual page of the command line into the package. */
export function manPageFile(): Plugin {
  return {
    name: 'shopstead:man-page',
    async writeBundle() {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, await manPage())
    }
  }
}

/** The manual page of the command line in troff (man-pages(7)), made from what `--help` of each command says. */
export async function manPage(): Promise<string> {
  const about = 'a headless storefront and account service for a small shop'
  const commands = await Promise.all(Object.entries(sections).map(([use, heading]) => section(use, heading)))
  return [
    `.TH SHOPSTEAD 1 "" "Shopstead ${packageVersion()}" "User Commands"`,
    ...heading('NAME', [`shopstead \\- ${about}`]),
    ...heading('SYNOPSIS', ['.B shopstead', escaped('<command> [arguments] [options]')]),
    ...heading('DESCRIPTION', [
      text('Results go to standard output, messages to standard error.'),
      text(
        'Commands that delete, replace or move money ask for confirmation at a terminal; without one they need --yes.'
      )
    ]),
    ...heading('OPTIONS OF EVERY COMMAND', [
      ...entry('--json', 'print one JSON document on standard output'),
      ...entry('--data-dir <dir>', 'data folder (default: SHOPSTEAD_DATA_DIR or ./data)'),
      ...entry('-h, --help', 'show how a command is used, with an example')
    ]),
    ...commands.flat(),
    ...heading('EXIT STATUS', [
      ...entry('0', 'done'),
      ...entry('1', 'refused or failed'),
      ...entry('2', 'wrong usage'),
      ...entry('69', 'a dependency, such as Stripe or the database, is unavailable')
    ]),
    ...heading('SEE ALSO', [
      text('shopstead guide prints the documentation, shopstead guide operating that for operators.')
    ]),
    ''
  ].join('\n')
}

async function section(use: string, title: string): Promise<string[]> {
  const program = new ShopCommand(processTerminal(), 'shopstead')
  for (const group of groups.filter((one) => one.use === use)) (await group.load()).define(program)
  return heading(
    title.replace(/:$/, '').toUpperCase(),
    program.commands.flatMap((command) => leaves(command, []))
  )
}

function leaves(command: Command, before: readonly string[]): string[] {
  const path = [...before, command.name()]
  if (command.commands.length > 0) return command.commands.flatMap((child) => leaves(child, path))
  const help = command.createHelp()
  const options = help.visibleOptions(command).filter(({ long }) => !everywhere.has(long ?? ''))
  return [
    `.SS ${quoted(`shopstead ${path.join(' ')} ${command.usage()}`.replace(' [options]', '').trim())}`,
    text(help.commandDescription(command)),
    ...help.visibleArguments(command).flatMap((one) => entry(help.argumentTerm(one), help.argumentDescription(one))),
    ...options.flatMap((one) => entry(help.optionTerm(one), help.optionDescription(one))),
    ...example(command)
  ]
}

/** The example at the end of the help. */
function example(command: Command): string[] {
  let help = ''
  command.configureOutput({ writeOut: (part) => void (help += part) }).outputHelp()
  const [, after = ''] = help.split(/^Examples?:$/m)
  const lines = after.split('\n').filter((line) => line.startsWith('  '))
  return lines.length === 0 ? [] : ['.PP', '.EX', ...lines.map((line) => escaped(line.slice(2))), '.EE']
}

function heading(title: string, lines: readonly string[]): string[] {
  return [`.SH ${quoted(title)}`, ...lines]
}

function entry(term: string, about: string): string[] {
  return ['.TP', `.B ${escaped(term)}`, text(about)]
}

const quoted = (line: string): string => `"${escaped(line).replaceAll('"', String.raw`\(dq`)}"`

function text(about: string): string {
  return about.split('\n').map(escaped).join('\n.br\n')
}

/** A line that troff prints as it is: no request, no escape, ASCII hyphens (man-pages(7), "Generating optimal glyphs"). */
function escaped(line: string): string {
  return line
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll(
      /\P{ASCII}/gu,
      (letter) => String.raw`\[u${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`
    )
    .replace(/^\./, String.raw`\&.`)
}
