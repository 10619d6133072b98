import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { groups } from '../../../src/cli/groups.ts'
import { shopstead } from '../../support/command-line.ts'
import { plainEnvironment, runShopstead } from '../../support/command-process.ts'
import { demoShop } from '../../support/demo-shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** One command of each group that ends without a signal, and what its JSON output contains. */
const commands: Record<string, [args: string[], answer: object, code?: number]> = {
  init: [['init'], { error: { code: 'CONFLICT' } }, 1],
  migrate: [['migrate', '--status'], { pending: [] }],
  seed: [['seed', 'seeds/offers.example.json'], { updated: { coupons: 0 } }],
  admin: [['admin', 'list'], { administrators: [{ email: 'admin@shop.example' }] }],
  desk: [['desk', 'people'], { people: [{ email: 'anna@shop.example' }] }],
  import: [['import', 'wordpress', 'none.sql'], { error: { code: 'NOT_FOUND' } }, 1],
  users: [['users', 'show', 'lena@shop.example'], { username: 'lena' }],
  offers: [['offers', 'show', 'last-lantern'], { offer: { productSlug: 'last-lantern' } }],
  coupons: [['coupons', 'list'], { coupons: expect.any(Array) }],
  'gift-cards': [['gift-cards', 'show', '1'], { giftCard: { id: 1, state: 'active' } }],
  redirects: [['redirects', 'list'], { redirects: expect.any(Array) }],
  commissions: [
    ['commissions', 'list'],
    { rates: [{ affiliate: 'petra' }, { category: expect.any(String), rate: 5 }] }
  ],
  sales: [['sales', 'list'], { sales: [{ name: 'Black Friday', state: 'ended' }] }],
  groups: [
    ['groups', 'show', 'wholesale'],
    { group: { slug: 'wholesale' }, members: [{ email: 'petra@shop.example' }] }
  ],
  shipping: [['shipping', 'list'], { zones: expect.arrayContaining([expect.objectContaining({ zone: 'Germany' })]) }],
  tax: [['tax', 'list'], { rates: expect.arrayContaining([expect.objectContaining({ country: 'DE' })]) }],
  modules: [['modules', 'list'], { modules: expect.any(Array) }],
  settings: [['settings', 'get', 'shop.currency'], { key: 'shop.currency', value: 'EUR' }],
  holiday: [['holiday', 'show'], { holiday: null }],
  law: [['law', 'list'], { files: [] }],
  orders: [['orders', 'show', '1'], { order: { id: 1 } }],
  affiliates: [['affiliates', 'show', 'mira'], { affiliate: { code: 'mira' } }],
  referrals: [['referrals', 'list', '--limit', '1'], { referrals: [{}] }],
  benefits: [['benefits', 'list', 'lena@shop.example'], { user: { email: 'lena@shop.example' } }],
  sandbox: [['sandbox', 'faults'], { faults: [] }],
  webhooks: [['webhooks', 'list'], { webhooks: [{ id: 1 }] }],
  mail: [['mail', 'resend', '1'], { sent: { template: 'order_receipt' } }],
  events: [['events', 'list', '--limit', '1'], { events: [{}] }],
  report: [['report', 'payments'], { differences: {} }],
  stripe: [['stripe', 'setup'], { error: { code: 'CONFLICT' } }, 1],
  create: [['create', 'docs'], { error: { code: 'CONFLICT' } }, 1],
  replicate: [
    ['replicate', '--to', '/mnt/replica'],
    { configuration: expect.stringContaining('path: "/mnt/replica"') }
  ],
  restore: [['restore', '--from-replica', '/mnt/replica'], { error: { code: 'USAGE' } }, 2],
  promote: [['promote'], { error: { code: 'USAGE' } }, 2],
  backup: [['backup', 'list'], { backups: [] }],
  payouts: [['payouts', 'list'], { payouts: [{ affiliateCode: 'mira', state: 'failed' }] }],
  openapi: [['openapi'], { openapi: '3.1.1' }],
  completion: [['completion', 'bash'], { shell: 'bash' }],
  guide: [['guide'], { topics: expect.any(Array) }],
  systemd: [['systemd'], { unit: expect.stringContaining('[Service]') }],
  // The golden database comes without its secret key.
  health: [['health'], { checks: expect.any(Array) }, 1]
}
/** Servers, which other tests start. */
const servers = ['dev', 'serve', 'proxy']

describe('shopstead in its own process', () => {
  it('is tried with a command of every group', () => {
    expect([...Object.keys(commands), ...servers].toSorted()).toEqual(groups.map(({ name }) => name).toSorted())
  })

  it.each(Object.entries(commands))('answers a command of the group %s', async (_group, [args, answer, code = 0]) => {
    const ran = await runShopstead(demoShop(), [...args, '--json'])
    expect(ran).toMatchObject({ code, stderr: '', json: answer })
  })

  it('reads a password from standard input', async () => {
    const args = ['users', 'set-password', 'lena@shop.example', '--password-stdin', '--json']
    expect((await runShopstead(demoShop(), args, { input: 'paper-lighthouse-7\n' })).code).toBe(0)
  })

  it('exits with the code of its error, which standard error explains', async () => {
    const ran = await runShopstead(demoShop(), ['orders', 'show', '99999'], { env: { NO_COLOR: '1', FORCE_COLOR: '' } })
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/./) })
    expect(ran.stderr).not.toContain('\u001B')
    expect((await runShopstead(demoShop(), ['orders', 'show'])).code).toBe(2)
  })

  it('exits without an error when the reader of its output closes the pipe', () => {
    const command = `${process.execPath} bin/shopstead.js events list --limit 470 --json --data-dir ${demoShop()}`
    const script = `${command} | head -c 10; echo " \${PIPESTATUS[0]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: '{"events": 0\n', stderr: '' })
  })

  it('explains in one line that its output cannot be written because the disk is full', () => {
    const command = `${process.execPath} bin/shopstead.js offers list --data-dir ${demoShop()}`
    const { status, stderr } = spawnSync('bash', ['-c', `${command} > /dev/full`], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'Standard output cannot be written: the disk is full.\n'
    })
  })

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004']
  ])('ends a question for a password or a confirmation in one line at %s', async (_name, key) => {
    const press = async (question: string, ...args: string[]) => {
      const command = [process.execPath, 'bin/shopstead.js', ...args, '--data-dir', demoShop()].join(' ')
      const child = spawn('script', ['-qec', command, '/dev/null'], { env: plainEnvironment() })
      let stdout = ''
      child.stdout.on('data', (part: Buffer) => {
        const wasAsked = stdout.includes(question)
        stdout += part.toString('utf8')
        if (!wasAsked && stdout.includes(question)) child.stdin.write(key)
      })
      const [status] = (await once(child, 'close')) as [number]
      return { status, stdout: stripVTControlCharacters(stdout) }
    }
    for (const [question, command] of [
      ['Password:', 'set-password'],
      ['Deactivate', 'deactivate']
    ] as const) {
      const { status, stdout } = await press(question, 'users', command, 'lena@shop.example')
      expect(stdout).toMatch(/Nothing was changed\./)
      expect(stdout).not.toMatch(/unsettled|    at /)
      expect(status).toBe(1)
    }
  })

  it('colours the heads of tables only for a terminal without NO_COLOR', () => {
    const command = `${process.execPath} bin/shopstead.js modules list --data-dir ${demoShop()}`
    const headOf = (words: string[], more: Record<string, string> = {}): string | undefined =>
      spawnSync(words[0] ?? '', words.slice(1), { encoding: 'utf8', env: { ...plainEnvironment(), ...more } })
        .stdout.split(/\r?\n/)
        .find((line) => line.includes('Module'))
    const terminal = ['script', '-qec', command, '/dev/null']
    const pipe = ['sh', '-c', `${command} | cat`]
    expect(headOf(terminal)?.startsWith('\u001B[1mModule')).toBe(true)
    expect(headOf(terminal, { NO_COLOR: '1' })).toMatch(/^Module/)
    expect(headOf(pipe)).toMatch(/^Module/)
    expect(headOf(pipe, { FORCE_COLOR: '1' })?.startsWith('\u001B[1mModule')).toBe(true)
  })

  it('shows its progress on a terminal, but not with --json', () => {
    const watched = (...args: string[]): string => {
      const command = [process.execPath, 'bin/shopstead.js', ...args, '--data-dir', demoShop(), '> /dev/null'].join(' ')
      const options = { encoding: 'utf8', env: plainEnvironment() } as const
      return spawnSync('script', ['-qec', command, '/dev/null'], options).stdout
    }
    expect(watched('offers', 'export').startsWith('\r\u001B[Kreading the catalog')).toBe(true)
    expect(watched('offers', 'export').endsWith('\r\u001B[K')).toBe(true)
    expect(watched('offers', 'export', '--json')).toBe('')
  })
})

describe('the files that commands create', () => {
  it('are private, whatever umask the shell has', () => {
    const dataDir = join(temporaryFolder(), 'data')
    for (const args of ['init', 'seed seeds/offers.example.json', 'backup create', 'settings set shop.name Lantern']) {
      const command = `umask 000; exec ${process.execPath} bin/shopstead.js ${args} --data-dir ${dataDir}`
      expect(spawnSync('sh', ['-c', command], { encoding: 'utf8' })).toMatchObject({ status: 0 })
    }
    const entries = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    expect(entries).toEqual(expect.arrayContaining(['shopstead.db', 'secret.key', 'limits.db']))
    expect(entries.filter((entry) => (statSync(join(dataDir, entry)).mode & 0o077) !== 0)).toEqual([])
  })
})

describe('the bash completion', () => {
  it('works without other packages, and does not evaluate typed text', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'bin'))
    const stub = join(folder, 'bin', 'shopstead')
    writeFileSync(stub, `#!/bin/sh\nexec "${process.execPath}" "${resolve('bin/shopstead.js')}" "$@"\n`)
    chmodSync(stub, 0o755)
    const script = join(folder, 'completion.bash')
    writeFileSync(script, (await shopstead(folder, ['completion', 'bash'])).stdout)
    const typed = [`shopstead orders ref`, `shopstead backup verify pack`, `shopstead orders '$(touch pwned)' ''`]
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
    expect(stdout.split('\n').slice(0, 2)).toEqual(['refund', 'package-lock.json package.json'])
    expect(stdout).not.toContain('pwned')
  })
})

const hasSystemdAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

describe('the systemd unit', () => {
  it.each([[], ['--read-only'], ['--replicate']])('is valid for systemd with the options %j', async (...options) => {
    const { json } = await shopstead<{ unit: string }>(temporaryFolder(), ['systemd', ...options, '--json'])
    expect(json.unit).toContain('DynamicUser=yes')
    expect(json.unit).toContain('ExecStart=')
    if (!hasSystemdAnalyze) return
    const file = join(temporaryFolder(), 'shopstead-test.service')
    // Litestream need not be installed here.
    writeFileSync(file, json.unit.replace('/usr/bin/litestream', process.execPath))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect({ status, mine: stderr.split('\n').filter((text) => text.includes('shopstead-test.service')) }).toEqual({
      status: 0,
      mine: []
    })
  })

  it('starts Node.js with options that it accepts', async () => {
    const { json } = await shopstead<{ unit: string }>(temporaryFolder(), ['systemd', '--json'])
    const [node = '', ...args] = /^ExecStart=(.*) serve$/m.exec(json.unit)?.[1]?.split(' ') ?? []
    expect(args[0]).toMatch(/^--max-semi-space-size=\d+$/)
    const { status, stderr } = spawnSync(node, [...args, '--version'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
