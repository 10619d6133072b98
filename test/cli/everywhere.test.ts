import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { groups } from '../../src/cli/groups.ts'
import { journal } from '../../src/platform/db/migrate.ts'
import { runShopstead, temporaryFolder } from '../support/command-line.ts'

/** A folder with the demo shop as its golden database has it. */
function demoShop(): string {
  const dataDir = temporaryFolder()
  const golden = `test/golden/${journal().at(-1)?.tag}.db.gz`
  writeFileSync(join(dataDir, 'shopstead.db'), gunzipSync(readFileSync(golden)))
  return dataDir
}

type Found = { path: string; command: Command }

function leavesOf(command: Command, path: string): Found[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`.trim()))
}

const program = new Command('shopstead')
let leaves: Found[] = []
beforeAll(async () => {
  for (const group of groups) (await group.load()).define(program)
  leaves = leavesOf(program, '')
})

/** A list of somebody's needs somebody. */
function whose(command: Command): string[] {
  return command.registeredArguments.some(({ required }) => required) ? ['lena@shop.example'] : []
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

  test('has help that fits 80 columns', () => {
    for (const { path, command } of leaves) {
      const long = helpOf(command)
        .split('\n')
        .filter((text) => text.length > 80 && !text.includes('$ shopstead'))
      expect({ path, long }).toEqual({ path, long: [] })
    }
  })

  test('that lists something prints a table that fits 80 columns, plain, and nothing besides', async () => {
    const dataDir = demoShop()
    for (const { path, command } of leaves.filter(({ path }) => / (list|types|deliveries)$/.test(path))) {
      const { exitCode, stdout, stderr } = await runShopstead(dataDir, [...path.split(' '), ...whose(command)])
      const long = stdout.split('\n').filter((text) => text.length > 80)
      expect({ path, exitCode, long, stderr }).toEqual({ path, exitCode: 0, long: [], stderr: '' })
      expect(stdout).not.toContain('\u001B')
    }
  })
})

test('a long command shows no progress where nobody watches', async () => {
  const dataDir = demoShop()
  expect(await runShopstead(dataDir, ['backup', 'create'])).toMatchObject({ exitCode: 0, stderr: '' })
})

test('a reader that goes away ends a command quietly', () => {
  const dataDir = demoShop()
  const program = `${process.execPath} bin/shopstead.js events list --limit 470 --json --data-dir ${dataDir}`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${program} | head -c 10; echo " \${PIPESTATUS[0]}"`], {
    encoding: 'utf8'
  })
  expect({ stdout, stderr }).toEqual({ stdout: '{"events": 0\n', stderr: '' })
})

test('NO_COLOR keeps colour out of messages', async () => {
  const dataDir = demoShop()
  const { stderr, exitCode } = await runShopstead(dataDir, ['orders', 'show', '99999'], {
    env: { NO_COLOR: '1', FORCE_COLOR: '' }
  })
  expect(exitCode).toBe(1)
  expect(stderr).not.toContain('\u001B')
})

describe('completion', () => {
  const ask = (...words: string[]): string[] =>
    execFileSync(process.execPath, ['bin/shopstead.js', 'complete', '--', ...words], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')

  test('knows groups, commands, options and their values, and where a file goes', () => {
    expect(ask('back')).toEqual(['backup\tcopies of the database and the secret key', ':4'])
    expect(ask('backup', '').map((line) => line.split('\t')[0])).toEqual(['create', 'list', 'verify', 'restore', ':4'])
    expect(ask('backup', 'restore', '--y')).toEqual(['--yes\tdo not ask', ':4'])
    expect(ask('backup', 'restore', 'x')).toEqual([':0'])
    expect(ask('webhooks', 'deliveries', '--state', 'd')).toEqual(['delivered\t', ':4'])
    expect(ask('completion', 'z')).toEqual(['zsh\t', ':4'])
    expect(ask('nonsense', 'x')).toEqual([':4'])
  })

  test('works in bash without anything installed, and evaluates nothing that was typed', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'bin'))
    const stub = join(folder, 'bin', 'shopstead')
    writeFileSync(stub, `#!/bin/sh\nexec "${process.execPath}" "${resolve('bin/shopstead.js')}" "$@"\n`)
    chmodSync(stub, 0o755)
    const script = join(folder, 'completion.bash')
    writeFileSync(script, (await runShopstead(folder, ['completion', 'bash'])).stdout)
    const typed = [`shopstead orders re`, `shopstead backup verify pack`, `shopstead orders '$(touch pwned)' ''`]
    const tries = typed.map(
      (line) => `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _shopstead; echo "\${COMPREPLY[*]}"`
    )
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', `source ${script}; source ${script}; ${tries.join('; ')}; ls`],
      {
        encoding: 'utf8',
        env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
      }
    )
    expect(stderr).toBe('')
    expect(stdout.split('\n').slice(0, 2)).toEqual(['refund reconcile', 'package-lock.json package.json'])
    expect(stdout).not.toContain('pwned')
  })

  test.each(['zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { stdout, exitCode } = await runShopstead(temporaryFolder(), ['completion', shell])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('shopstead complete --')
  })

  test('of another shell is refused', async () => {
    expect((await runShopstead(temporaryFolder(), ['completion', 'tcsh'])).exitCode).toBe(2)
  })
})

describe('systemd', () => {
  const unitOf = async (...args: string[]) =>
    runShopstead<{ unit: string }>(temporaryFolder(), ['systemd', ...args, '--json'])

  test('prints a unit that systemd understands', async (context) => {
    const { json } = await unitOf()
    expect(json.unit).toContain('DynamicUser=yes')
    expect(json.unit).toContain('ExecStart=')
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) context.skip()
    const file = join(temporaryFolder(), 'shopstead.service')
    writeFileSync(file, json.unit)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect({ status, mine: stderr.split('\n').filter((text) => text.includes('shopstead.service')) }).toEqual({
      status: 0,
      mine: []
    })
  })

  test('starts a killed server again in less than a second, and never gives up on one that cannot start', async () => {
    const { unit } = (await unitOf()).json
    const [head = '', service = ''] = unit.split('[Service]')
    expect(Number(/^RestartSec=(\d+)ms$/m.exec(service)?.[1])).toBeLessThan(1000)
    expect(service).toContain('Restart=on-failure\n')
    expect(head).toContain('StartLimitIntervalSec=0\n')
  })

  test('runs as a user of the operator’s choice on a folder of his own', async () => {
    const { json } = await unitOf('--user', 'shop')
    expect(json.unit).toContain('User=shop')
    expect(json.unit).toMatch(/ReadWritePaths=\/\S+/)
    expect(json.unit).not.toContain('DynamicUser')
  })

  test.each([
    ['--user', 'shop\nExecStartPre=/bin/sh'],
    ['--environment', '/etc/shop stead.env']
  ])('takes no %s that would say more than it should', async (option, value) => {
    expect((await unitOf(option, value)).exitCode).toBe(2)
  })
})
