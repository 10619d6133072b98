import type { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { ShopCommand } from '../../src/cli/run.ts'
import { groups } from '../../src/cli/groups.ts'
import { main } from '../../src/cli/main.ts'
import { shopstead, testTerminal } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Found = { path: string; command: Command }

function leavesOf(command: Command, path: string): Found[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`.trim()))
}

const program = new ShopCommand(testTerminal().terminal, 'shopstead')
let leaves: Found[] = []
beforeAll(async () => {
  for (const group of groups) (await group.load()).define(program)
  leaves = leavesOf(program, '')
})

/** The arguments that a list requires: a product's slug, or a user's email. */
function argumentsOf(command: Command): string[] {
  const required = command.registeredArguments.filter((argument) => argument.required)
  return required.map((argument) => (argument.name() === 'slug' ? 'storm-lantern' : 'lena@shop.example'))
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 80 }).outputHelp()
  return text
}

describe('every command', () => {
  test('has an example of itself under its help, and takes --json and --data-dir', () => {
    expect(leaves.length).toBeGreaterThan(60)
    for (const { path, command } of leaves) {
      expect(helpOf(command)).toContain(`$ shopstead ${path}`)
      expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(['--json', '--data-dir']))
    }
  })

  test('is what its group is announced as', () => {
    expect(program.commands.map((command) => command.name())).toEqual(groups.map(({ name }) => name))
  })

  test('is in a part of the help of the program, which begins with everyday work', async () => {
    const { terminal, stdout } = testTerminal()
    expect(await main(['--help'], terminal)).toBe(0)
    const parts = stdout().split(/^(?=[A-Z].*:$)/m)
    const everyday = parts.find((part) => part.startsWith('Every day:')) ?? ''
    expect(parts.indexOf(everyday)).toBeLessThan(parts.findIndex((part) => part.startsWith('Selling:')))
    expect(everyday).toMatch(/^ {2}orders /m)
    expect(parts.some((part) => part.startsWith('Commands:'))).toBe(false)
    for (const { name } of groups) expect(stdout().match(new RegExp(`^ {2}${name} `, 'gm'))).toHaveLength(1)
  })

  test('has help that fits 80 columns', () => {
    for (const { path, command } of leaves) {
      const long = helpOf(command)
        .split('\n')
        .filter((text) => text.length > 80 && !text.includes('$ shopstead'))
      expect({ path, long }).toEqual({ path, long: [] })
    }
  })

  test('that lists something prints a table that fits a terminal of 80 columns, plain, and nothing else', async () => {
    const dataDir = demoShop()
    for (const { path, command } of leaves.filter(({ path }) => / (list|types|deliveries)$/.test(path))) {
      const { code, stdout, stderr } = await shopstead(dataDir, [...path.split(' '), ...argumentsOf(command)], {
        answers: []
      })
      const long = stdout.split('\n').filter((text) => text.length > 80)
      expect({ path, code, long, stderr }).toEqual({ path, code: 0, long: [], stderr: '' })
      expect(stdout).not.toContain('\u001B')
    }
  })
})

test('a long command shows no progress without a terminal', async () => {
  const dataDir = demoShop()
  expect(await shopstead(dataDir, ['backup', 'create'])).toMatchObject({ code: 0, stderr: '' })
})

describe('completion', () => {
  const ask = async (...words: string[]): Promise<string[]> => {
    const { terminal, stdout } = testTerminal()
    expect(await main(['complete', '--', ...words], terminal)).toBe(0)
    return stdout().trimEnd().split('\n')
  }

  test('knows groups, commands, options and their values, and where a file goes', async () => {
    expect(await ask('back')).toEqual(['backup\tcopies of the database and the secret key', ':4'])
    expect((await ask('backup', '')).map((line) => line.split('\t')[0])).toEqual([
      'create',
      'list',
      'verify',
      'restore',
      ':4'
    ])
    expect(await ask('backup', 'restore', '--y')).toEqual(['--yes\tdo not ask for confirmation', ':4'])
    expect(await ask('backup', 'restore', 'x')).toEqual([':0'])
    expect(await ask('webhooks', 'deliveries', '--state', 'd')).toEqual(['delivered\t', ':4'])
    expect(await ask('completion', 'z')).toEqual(['zsh\t', ':4'])
    expect(await ask('nonsense', 'x')).toEqual([':4'])
  })

  test('knows the keys of settings and the names of modules, with what they mean', async () => {
    expect(await ask('settings', 'set', 'shop.cur')).toEqual([expect.stringMatching(/^shop\.currency\t./), ':4'])
    expect(await ask('settings', 'set', 'shop.currency', '')).toEqual([':4'])
    expect(await ask('modules', 'enable', 'aff')).toEqual([expect.stringMatching(/^affiliates\t./), ':4'])
  })

  test('knows the slugs of products, a hundred at most, and none without a shop', async () => {
    const at = ['--data-dir', demoShop()]
    expect(await ask('offers', 'show', ...at, 'last-l')).toEqual([expect.stringMatching(/^last-lantern\t./), ':4'])
    expect(await ask('offers', 'images', 'list', ...at, 'last-l')).toHaveLength(2)
    expect((await ask('offers', 'set', ...at, '')).length).toBeLessThanOrEqual(101)
    expect(await ask('offers', 'show', '--data-dir', temporaryFolder(), 'last-l')).toEqual([':4'])
  })

  test('works for a wrapper', async () => {
    const { stdout } = await shopstead(temporaryFolder(), ['completion', 'bash', '--command', 'shop'])
    expect(stdout).toMatch(/< <\(shop complete -- [^]*complete -F _shop shop\n$/)
    expect((await shopstead(temporaryFolder(), ['completion', 'bash', '--command', 'x; rm'])).code).toBe(2)
  })

  test.each(['zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { stdout, code } = await shopstead(temporaryFolder(), ['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain('shopstead complete --')
  })

  test('of another shell is refused', async () => {
    expect((await shopstead(temporaryFolder(), ['completion', 'tcsh'])).code).toBe(2)
  })
})

test.each([
  ['help orders', /refund[^]*warnings/],
  ['help orders refund', /--by-hand/],
  ['help', /Every day:/]
])('`%s` prints the help of what it names', async (words, help) => {
  const { terminal, stdout } = testTerminal()
  expect(await main(words.split(' '), terminal)).toBe(0)
  expect(stdout()).toMatch(help)
})

describe('systemd', () => {
  const unitOf = async (...args: string[]) =>
    shopstead<{ unit: string }>(temporaryFolder(), ['systemd', ...args, '--json'])

  test('starts a killed server again in less than a second, and never gives up on one that cannot start', async () => {
    const { unit } = (await unitOf()).json
    const [head = '', service = ''] = unit.split('[Service]')
    expect(Number(/^RestartSec=(\d+)ms$/m.exec(service)?.[1])).toBeLessThan(1000)
    expect(service).toContain('Restart=on-failure\n')
    expect(head).toContain('StartLimitIntervalSec=0\n')
  })

  test('runs as a user and on a folder that the operator chooses', async () => {
    const { json } = await unitOf('--user', 'shop')
    expect(json.unit).toContain('User=shop')
    expect(json.unit).toMatch(/ReadWritePaths=\/\S+/)
    expect(json.unit).not.toContain('DynamicUser')
  })

  test('neither creates nor migrates a database on a machine that follows', async () => {
    const { unit } = (await unitOf('--read-only')).json
    expect(unit).toMatch(/^ExecStart=.* serve --read-only$/m)
    expect(unit).not.toContain('ExecStartPre')
  })

  test.each([
    ['--user', 'shop\nExecStartPre=/bin/sh'],
    ['--environment', '/etc/shop stead.env']
  ])('takes no %s that would say more than it should', async (option, value) => {
    expect((await unitOf(option, value)).code).toBe(2)
  })
})

test.each([
  ['unknown command', ['nonsense']],
  ['unknown option', ['orders', 'list', '--amont', '5']],
  ['missing required argument', ['orders', 'show']]
])('prints an %s once, as JSON if asked to', async (message, args) => {
  const folder = temporaryFolder()
  const text = await shopstead(folder, args)
  expect([text.code, text.stdout]).toEqual([2, ''])
  expect(text.stderr).toContain(message)
  const { code, json, stderr } = await shopstead(folder, [...args, '--json'])
  expect([code, stderr, json]).toEqual([
    2,
    '',
    { error: { code: 'USAGE', message: expect.stringContaining(message), details: {} } }
  ])
})
