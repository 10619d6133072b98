import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ShopCommand } from '../../src/cli/run.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { eventTypes } from '../../src/shop/events/event-types.ts'
import { handledTypes } from '../../src/shop/payments/gateway-state.ts'
import { definitions, settingKeys } from '../../src/shop/settings/definitions.ts'
import { parseSettingKey, setSetting } from '../../src/shop/settings/settings.ts'
import { idleProgram, npmScripts, refusalOf, subcommandsOf } from './commands.ts'
import { blocksIn, inlineCode, pages, tableWith } from './pages.ts'
import { readScript } from './shell.ts'

const operating = 'docs/operating.md'
/** The environment variables that the configuration knows. */
const variables = new Set(
  globSync('src/platform/config/*.ts').flatMap(
    (file) => readFileSync(file, 'utf8').match(/\bSHOPSTEAD_[A-Z_]+[A-Z]\b/g) ?? []
  )
)

let program: ShopCommand
beforeAll(async () => {
  program = await idleProgram()
})

const codeIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
const isMissing = (path: string): boolean => !existsSync(path)

/** GitHub's anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function anchorsOf(file: string): string[] {
  const { prose = '' } = pages.find((page) => page.file === file) ?? {}
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

function brokenLinks({ file, prose }: { file: string; prose: string }): string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^https?:/.test(target)) return []
    const [path = '', anchor] = target.split('#')
    const linked = path === '' ? file : join(dirname(file), path)
    if (isMissing(linked)) return [target]
    return anchor === undefined || anchorsOf(linked).includes(anchor) ? [] : [target]
  })
}

it('the README is short enough to read', () => {
  const readme = readFileSync('README.md', 'utf8')
  expect(readme.split('\n').length).toBeLessThanOrEqual(151)
  expect(statSync('README.md').size).toBeLessThanOrEqual(9 * 1024)
})

describe.each(pages)('$file', (page) => {
  const code = inlineCode(page)

  it('links to files and headings that exist', () => {
    expect(brokenLinks(page)).toEqual([])
  })

  it('names commands that exist', () => {
    const lines = code.filter((line) => /^(shopstead|shop) [a-z]/.test(line) && !/[|[…(]/.test(line))
    const refusals = lines
      .flatMap((line) => readScript(line).commands)
      .map(([, ...args]) => refusalOf(program, args))
      // A sentence may name a command without its arguments.
      .filter((refusal) => refusal !== undefined && !/\(outputHelp\)$|missing required argument/.test(refusal))
    expect(refusals).toEqual([])
  })

  it('names npm scripts that exist', () => {
    const names = [...page.text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name)
    expect(names.filter((name) => !npmScripts.has(name))).toEqual([])
  })

  it('names environment variables that exist', () => {
    const names = page.text.match(/\bSHOPSTEAD_[A-Z_]+[A-Z]\b/g) ?? []
    expect(names.filter((name) => !variables.has(name))).toEqual([])
  })

  it('names settings and events that exist', () => {
    const ofStripe = ['invoice.paid', 'invoice.payment_failed']
    const known = new Set<string>([...settingKeys, ...Object.keys(eventTypes), ...ofStripe])
    const groups = new Set([...known].map((name) => name.split('.')[0] ?? ''))
    const names = code.filter(
      (name) => /^[a-z]+\.(?!example$)[A-Za-z_]+$/.test(name) && groups.has(name.split('.')[0] ?? '')
    )
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })

  it('names files of the repository that exist', () => {
    const paths = code.filter((path) => /^(src|test|bin|seeds|docs|\.ci|\.config)\/[\w./-]+$/.test(path))
    // The browser tests create their output.
    expect(paths.filter((path) => isMissing(path) && path !== 'test/browser/output/')).toEqual([])
  })
})

describe('docs/operating.md', () => {
  it('lists every command with its subcommands', () => {
    const listed = tableWith(operating, 'command | subcommands | what it does').map(
      ([command = '', subcommands = '']) => ({
        command: codeIn(command)[0],
        subcommands: subcommands === '' ? [] : subcommands.split(', ')
      })
    )
    const known = program.commands.map((command) => ({
      command: `shopstead ${command.name()}`,
      subcommands: subcommandsOf(program, command.name())
    }))
    const sorted = (rows: typeof listed) =>
      rows.map((row) => `${row.command}: ${row.subcommands.toSorted().join(', ')}`).toSorted()
    expect(sorted(listed)).toEqual(sorted(known))
  })

  it('lists every environment variable', () => {
    const listed = tableWith(operating, 'variable | default | value').flatMap(([names]) => codeIn(names))
    expect(new Set(listed)).toEqual(variables)
  })

  it('starts with what an operator needs at midnight', () => {
    expect(pages.find(({ file }) => file === operating)?.prose).toMatch(/^# .*\n\n(- \[.*\n)+\n## At midnight\n/)
    expect(tableWith(operating, 'what you see | what to do').length).toBeGreaterThan(15)
  })
})

it('every setting that a snippet changes takes the value', () => {
  const db = openDatabase(':memory:')
  migrateDatabase(db)
  const commands = blocksIn('sh')
    .filter(({ code }) => !code.includes('$('))
    .flatMap(({ code }) => readScript(code).commands)
    .concat(pages.flatMap((page) => inlineCode(page).flatMap((line) => readScript(line).commands)))
  const changes = commands.filter(([, group, verb]) => group === 'settings' && verb === 'set')
  expect(changes.length).toBeGreaterThan(5)
  for (const [, , , key = '', value = ''] of changes) {
    // The setting of a worked change is not in the code.
    if (key in definitions) setSetting(db, parseSettingKey(key), value, 0)
  }
  db.sqlite.close()
})

it('docs/payments.md names the events of Stripe that the shop handles', () => {
  const code = pages.filter(({ file }) => file === 'docs/payments.md').flatMap(inlineCode)
  const isNamed = (type: string): boolean =>
    code.some((name) => name === type || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))))
  expect(handledTypes.filter((type) => !isNamed(type))).toEqual([])
})

it('every promise names tests that exist', () => {
  const rows = tableWith('docs/promises.md', 'promise | tests | limits')
  expect(rows.length).toBeGreaterThan(10)
  const parts = rows.flatMap(([, tests]) => codeIn(tests)).filter((name) => !name.startsWith('npm run '))
  expect(rows.filter(([, tests]) => codeIn(tests).length === 0)).toEqual([])
  expect(parts.filter((part) => isMissing(`test/torture/${part}.ts`))).toEqual([])
})

it('every section of docs/security-design.md names tests, and all of them exist', () => {
  const page = readFileSync('docs/security-design.md', 'utf8')
  const isTest = (name: string): boolean => name === 'package' || !isMissing(`test/${name.split('/')[0]}`)
  const sections = page.split(/^## /m).slice(1)
  const namesIn = (text: string): string[] =>
    codeIn(text).filter((name) => /^[a-z]+(\/[\w-]+)*$/.test(name) && isTest(name))
  expect(sections.filter((section) => namesIn(section).length === 0)).toEqual([])
  const isUntested = (name: string): boolean =>
    ['test/', 'test/processes/'].every(
      (folder) => isMissing(`${folder}${name}.test.ts`) && isMissing(`${folder}${name}.ts`)
    )
  expect(namesIn(page).filter(isUntested)).toEqual([])
})

it('every requirement of ASVS names tests that exist', () => {
  const rows = tableWith('docs/security-design.md', 'requirement | how Shopstead meets it, and where it is tested')
  const names = rows.flatMap(([, how]) => codeIn(how)).filter((name) => /^[a-z]+\/[\w/-]+$/.test(name))
  expect(names.length).toBeGreaterThan(30)
  const isUntested = (name: string): boolean =>
    ['test/', 'test/processes/'].every(
      (folder) => isMissing(`${folder}${name}.test.ts`) && isMissing(`${folder}${name}.ts`)
    )
  expect(names.filter(isUntested)).toEqual([])
})
