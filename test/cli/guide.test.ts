import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { renderMarkdown } from '../../src/cli/terminal/markdown.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))

type Listed = { topics: { topic: string; title: string }[] }

/** A folder without a shop, and a configuration that no server would start with. */
const guide = <Json = Record<string, unknown>>(...args: string[]) =>
  shopstead<Json>(join(temporaryFolder(), 'nowhere'), ['guide', ...args], { env: { SHOPSTEAD_PORT: 'none' } })

describe('shopstead guide', () => {
  it('lists every page of docs/ with its title, the one for operators first', async () => {
    const { code, json } = await guide<Listed>('--json')
    expect(code).toBe(0)
    expect(json.topics[0]).toEqual({ topic: 'operating', title: 'Operating a shop' })
    const names = pages.map((name) => name.replace('.md', '').toLowerCase())
    expect(json.topics.map(({ topic }) => topic).toSorted()).toEqual(names.toSorted())
    const { stdout } = await guide()
    for (const { topic, title } of json.topics) expect(stdout).toMatch(new RegExp(`^${topic} +${title}$`, 'm'))
  })

  it('prints the Markdown of a page where standard output is not a terminal', async () => {
    const text = readFileSync('docs/operating.md', 'utf8')
    expect((await guide('operating')).stdout).toBe(text)
    expect((await guide('operating', '--json')).json).toEqual({ topic: 'operating', text })
  })

  it('lays a page out for reading at a terminal', async () => {
    const folder = join(temporaryFolder(), 'nowhere')
    const { stdout } = await shopstead(folder, ['guide', 'operating'], { answers: [] })
    expect(stdout.startsWith('Operating a shop\n\n- At midnight\n')).toBe(true)
  })

  it('refuses an unknown topic with exit code 2 and names the known ones', async () => {
    const { code, stderr } = await guide('midnight')
    expect(code).toBe(2)
    expect(stderr).toContain('operating')
    const { json } = await guide('midnight', '--json')
    expect(json).toMatchObject({ error: { code: 'USAGE', message: expect.stringContaining('operating') } })
  })
})

describe('Markdown on a terminal', () => {
  const source = [
    '# Backups',
    '',
    'A **verified** copy; see [payments](payments.md#stripe) and [Caddy](https://caddyserver.com). '.repeat(2),
    '',
    '- run `shop health`',
    '- [wait](#here)',
    '',
    '| what | then |',
    '|---|---|',
    '| a \\| b | `shop migrate` |',
    '',
    '   ```sh',
    "   cat <<'END'",
    '     indented',
    '   END',
    '   ```'
  ].join('\n')

  it('is wrapped, aligned and readable without colours', () => {
    expect(renderMarkdown(source, { columns: 60, colours: false }).split('\n')).toEqual([
      'Backups',
      '',
      'A verified copy; see payments (shopstead guide payments) and',
      'Caddy (https://caddyserver.com). A verified copy; see',
      'payments (shopstead guide payments) and Caddy',
      '(https://caddyserver.com).',
      '',
      '- run `shop health`',
      '- wait',
      '',
      'what   then',
      'a | b  `shop migrate`',
      '',
      "cat <<'END'",
      '  indented',
      'END'
    ])
  })

  it('has the same words in colours', () => {
    const coloured = renderMarkdown(source, { columns: 60, colours: true })
    expect(coloured).toContain('\u001B[1mBackups')
    expect(coloured).toContain('\u001B[36mshop health')
    const uncoloured = renderMarkdown(source, { columns: 60, colours: false })
    expect(stripVTControlCharacters(coloured)).toBe(uncoloured.replace('`shop health`', 'shop health'))
  })

  it.each(pages)('has no line over 80 columns in a table or paragraph of %s', (name) => {
    const text = readFileSync(join('docs', name), 'utf8')
    const code = new Set(
      [...text.matchAll(/^( *)```.*\n([^]*?)^ *```$/gm)].flatMap(([, , body = '']) => body.split('\n'))
    )
    const isCode = (line: string): boolean => [...code].some((known) => known.trim() === line.trim())
    const lines = renderMarkdown(text, { columns: 80, colours: false }).split('\n')
    expect(lines.filter((line) => line.length > 80 && !isCode(line))).toEqual([])
  })
})
