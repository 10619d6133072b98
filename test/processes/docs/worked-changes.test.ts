import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applied, workedChanges } from '../../docs/worked-changes.ts'

/** A copy of the repository to which every worked change is applied, and in which its commands are run. */
let copy: string
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'shopstead-changes-'))
  for (const name of ['bin', 'docs', 'seeds', 'src', 'test', '.config', 'package.json', 'tsconfig.json', 'README.md'])
    cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, '.env'), 'SHOPSTEAD_LOG=silent\n')
  run('shopstead init')
  for (const { edits, commands } of workedChanges) {
    for (const edit of edits) {
      const file = join(copy, edit.path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, applied(edit, 'text' in edit ? '' : readFileSync(file, 'utf8')))
    }
    commands.forEach(run)
  }
}, 600_000)
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Runs shell in the copy. @throws Error with all that it printed when it fails */
function run(command: string): string {
  const { NODE_ENV: _test, ...env } = process.env
  const shopstead = `shopstead() { node bin/shopstead.js "$@"; }`
  const options = { cwd: copy, env, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', `${shopstead}\n${command}`], options)
  if (status !== 0) throw new Error(`${command}\n${stdout}\n${stderr}`)
  return stdout
}

describe('a copy of the repository with the worked changes', { timeout: 600_000 }, () => {
  it('compiles', () => {
    run('npm run client:generate && npx tsc --noEmit')
  })

  it('has the setting of the first change', () => {
    run('shopstead migrate')
    expect(JSON.parse(run('shopstead settings get shop.openingHours --json'))).toMatchObject({
      value: 'Tuesday to Saturday, 10 to 18',
      default: ''
    })
  })

  it('passes the tests of the changes and of what derives from them', () => {
    const edited = workedChanges.flatMap(({ edits }) => edits.map(({ path }) => path))
    const tests = [...edited.filter((path) => path.endsWith('.test.ts')), 'test/client', 'test/docs/contract.test.ts']
    const vitest = 'npx vitest run --config .config/vitest.config.ts --root .'
    run(`${vitest} ${tests.join(' ')}`)
    run(`${vitest} test/operations/migrate.test.ts -t golden`)
  })
})
