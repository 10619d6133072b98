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
  run('shopstead migrate')
  for (const { edits, commands } of workedChanges) {
    for (const edit of edits) {
      const file = join(copy, edit.path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, applied(edit, 'text' in edit ? '' : readFileSync(file, 'utf8')))
    }
    commands.forEach(run)
  }
}, 180_000)
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

describe('a copy of the repository with the worked changes', () => {
  it('compiles', () => {
    run('npx tsc --noEmit')
  }, 120_000)

  it('has the setting', () => {
    expect(
      JSON.parse(run('shopstead migrate > migrated.txt && shopstead settings get shop.openingHours --json'))
    ).toMatchObject({
      value: 'Tuesday to Saturday, 10 to 18',
      default: ''
    })
  })

  it('answers at the endpoint, also through the proxy', () => {
    const script = `
      const { startShop } = await import('./test/support/running-shop.ts')
      const shop = await startShop()
      for (const prefix of ['api/v1', 'api/secure'])
        {
        const root = shop.url + '/' + prefix
        const { data } = await (await fetch(root + '/nonce')).json()
        const headers = { 'x-nonce': data.nonce }
        console.log(await (await fetch(root + '/store/opening-hours', { headers })).text())
      }
      await shop.stop()`
    const answers = run(`node --input-type=module -e "${script}"`).trim().split('\n')
    expect(answers.map((answer) => (JSON.parse(answer) as { data: unknown }).data)).toEqual([
      { openingHours: '' },
      { openingHours: '' }
    ])
  })

  it('keeps rows in the table', () => {
    const script = `
      const { openDatabase, write } = await import('./src/platform/db/database.ts')
      const { migrateDatabase } = await import('./src/platform/db/migrate.ts')
      const { closeOn, listClosedDays } = await import('./src/shop/opening/closed-days.ts')
      const db = openDatabase(':memory:')
      migrateDatabase(db)
      for (const reason of ['Inventory', 'Christmas'])
        write(db, (tx) => closeOn(tx, { day: '2026-12-25', reason }, 0))
      console.log(JSON.stringify(listClosedDays(db)))`
    expect(JSON.parse(run(`node --input-type=module -e "${script}"`))).toEqual([
      { day: '2026-12-25', reason: 'Christmas' }
    ])
  })

  it('passes the tests that watch over such changes', () => {
    const vitest = 'npx vitest run --config .config/vitest.config.ts --root .'
    run(`${vitest} test/architecture.test.ts test/client test/docs/contract.test.ts`)
    run(`${vitest} test/operations/migrate.test.ts -t 'golden'`)
  }, 180_000)
})
