import type { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { manPage } from '../../.config/man-page.ts'
import { groups } from '../../src/cli/groups.ts'
import { ShopCommand } from '../../src/cli/run.ts'
import { testTerminal } from '../support/command-line.ts'

type Leaf = { path: string; command: Command }

function leavesOf(command: Command, path: string): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`))
}

let page = ''
let leaves: Leaf[] = []
beforeAll(async () => {
  page = await manPage()
  const program = new ShopCommand(testTerminal().terminal, 'shopstead')
  for (const group of groups) (await group.load()).define(program)
  leaves = leavesOf(program, 'shopstead')
})

/** The part of the page about a command, as it is read. */
function partAbout(path: string): string {
  const lines = page
    .replaceAll(String.raw`\-`, '-')
    .replaceAll(String.raw`\(aq`, "'")
    .replaceAll(/\\\[u([\dA-F]+)\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .split('\n')
  const start = lines.findIndex((line) => line === `.SS "${path}"` || line.startsWith(`.SS "${path} `))
  const rest = lines.slice(start + 1)
  return rest
    .slice(
      0,
      rest.findIndex((line) => /^\.S[SH] /.test(line))
    )
    .join('\n')
}

describe('the manual page', () => {
  it('has every command with its description, its options and its example', () => {
    expect(leaves.length).toBeGreaterThan(60)
    for (const { path, command } of leaves) {
      const part = partAbout(path)
      expect([path, part.includes(command.description().split('\n')[0] ?? '')]).toEqual([path, true])
      expect([path, part.includes(`.EX\n$ ${path}`)]).toEqual([path, true])
      const options = command.options.filter(
        ({ hidden, long }) => !hidden && long !== '--json' && long !== '--data-dir'
      )
      expect([path, options.filter(({ flags }) => !part.includes(`.B ${flags}\n`))]).toEqual([path, []])
    }
  })
})
