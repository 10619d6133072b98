import { describe, expect, it } from 'vitest'
import { JsonList, printAnswer } from '../../src/cli/terminal/output.ts'
import { table, tableLines } from '../../src/cli/terminal/table.ts'
import type { Cell } from '../../src/cli/terminal/table.ts'
import { testTerminal } from '../support/command-line.ts'

const lines = (rows: readonly (readonly Cell[])[], columns: number): string[] => [
  ...tableLines(table(['Id', 'Email', 'Note'], rows), columns)
]

describe('a table', () => {
  it('uses the width of the terminal and breaks a wide cell between words', () => {
    const rows = [[1, 'lena@shop.example', 'a note of several words']]
    expect(lines(rows, 80)).toEqual(['Id  Email              Note', '1   lena@shop.example  a note of several words'])
    expect(lines(rows, 40)).toEqual([
      'Id  Email              Note',
      '1   lena@shop.example  a note of several',
      '                       words'
    ])
  })

  it('keeps an email, an id and a time whole on a terminal that is too narrow', () => {
    const email = 'a-very-long-mailbox-name@subdomain.shop.example'
    const shown = lines([[123_456_789, email, new Date('2026-11-23T12:00:00Z')]], 20)
    const [head = '', row = ''] = shown
    expect(shown).toEqual([head, row])
    expect(row).toContain(email)
    expect(row).toMatch(/2026-11-2[234] \d\d:\d\d(Z|[+-]\d\d:\d\d)$/)
  })

  it('aligns characters of double width, and shows no control characters', () => {
    expect(
      lines(
        [
          [1, '日本', 'x'],
          [2, 'a\u001B[31mb', 'y']
        ],
        80
      )
    ).toEqual(['Id  Email    Note', '1   日本     x', '2   a [31mb  y'])
  })

  it('reads 100,000 rows one by one and has printed the first before it reads the last', async () => {
    let read = 0
    let writtenAtFirst = 0
    const rows = function* (): Generator<Cell[]> {
      for (; read < 100_000; read += 1) yield [read, `person-${read}@shop.example`, 'a note']
    }
    const { terminal, stdout } = testTerminal()
    const write = terminal.stdout.write.bind(terminal.stdout)
    terminal.stdout.write = ((text: string, done: () => void) => {
      writtenAtFirst ||= read
      return write(text, done)
    }) as typeof terminal.stdout.write
    await printAnswer(terminal, { json: {}, human: table(['Id', 'Email', 'Note'], rows()) }, false)
    expect(writtenAtFirst).toBeLessThan(5000)
    expect(stdout().split('\n').length).toBe(100_002)
  })
})

it('a long list as JSON is one document with its other fields', async () => {
  const { terminal, stdout } = testTerminal()
  const rows = function* (): Generator<{ id: number }> {
    for (let id = 1; id <= 3; id += 1) yield { id }
  }
  const json = new JsonList('rows', rows(), () => ({ nextCursor: null }))
  await printAnswer(terminal, { json, human: '' }, true)
  expect(JSON.parse(stdout())).toEqual({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }], nextCursor: null })
})
