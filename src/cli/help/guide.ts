import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Argument } from 'commander'
import type { ShopCommand, CommonOptions } from '../run.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { renderMarkdown } from '../terminal/markdown.ts'
import { mostColumns, printAnswer } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { addCommand } from '../run.ts'
import type { Terminal } from '../terminal/terminal.ts'

const folder = join(packageRoot, 'docs')

type Page = { topic: string; title: string; text: string }

/** The documentation in a terminal. It opens no database and reads no configuration, so it works when these do not. */
export function define(program: ShopCommand): void {
  const pages = readPages()
  const topic = new Argument('[topic]', 'the page to print; without it, the list').choices(
    pages.map((page) => page.topic)
  )
  const command = addCommand(program, 'guide', 'show the documentation', 'guide operating').addArgument(topic)
  command.action(async (wanted: string | undefined) => {
    const page = pages.find((candidate) => candidate.topic === wanted)
    const { terminal } = command
    const answer = page === undefined ? list(pages) : show(page, terminal)
    await printAnswer(terminal, answer, command.opts<CommonOptions>().json ?? false)
  })
}

/** The pages in docs/; the one for operators comes first. */
function readPages(): Page[] {
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => toPage(name, readFileSync(join(folder, name), 'utf8')))
  const rank = ({ topic }: Page): string => (topic === 'operating' ? '' : topic)
  return pages.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

function toPage(name: string, text: string): Page {
  const topic = name.replace(/\.md$/, '').toLowerCase()
  return { topic, title: /^# (.+)$/m.exec(text)?.[1] ?? topic, text }
}

function list(pages: readonly Page[]): Answer {
  const topics = pages.map(({ topic, title }) => ({ topic, title }))
  const rows = topics.map(({ topic, title }) => [topic, title])
  return { json: { topics }, human: [table(['Topic', 'Title'], rows), '', '"shopstead guide TOPIC" prints a page.'] }
}

/** A pipe gets the Markdown as it is in the file. */
function show({ topic, text }: Page, { stdout }: Terminal): Answer {
  const human = stdout.isTTY
    ? renderMarkdown(text, { columns: mostColumns, colours: stdout.hasColors?.() ?? false })
    : text.trimEnd()
  return { json: { topic, text }, human }
}
