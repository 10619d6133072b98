import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStarter, starters } from '../../src/operations/starters/create-site.ts'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Manifest = { name: string; dependencies: Record<string, string>; devDependencies: Record<string, string> }
type Created = { folder: string; framework: string; files: string[]; commands: string[] }

const own = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest & { version: string }

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

describe('shopstead create', () => {
  it.each(Object.keys(starters))(
    'writes a site of the starter %s with exact versions and without secrets',
    async (name) => {
      const folder = join(temporaryFolder(), 'Tin Lantern')
      const { code, json } = await shopstead<Created>('', ['create', folder, '--framework', name, '--json'])
      expect({ code, framework: json.framework, folder: json.folder }).toEqual({ code: 0, framework: name, folder })
      expect(json.commands).toEqual([`cd '${folder}'`, 'npm install', 'npm run shop', 'npm run dev'])
      const { name: packageName, dependencies, devDependencies } = manifestIn(folder)
      expect(packageName).toBe('tin-lantern')
      const versions = { ...dependencies, ...devDependencies }
      expect(Object.values(versions).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
      for (const shared of ['@shopstead/client', '@shopstead/proxy', 'shopstead']) {
        expect(versions[shared]).toBe(own.version)
      }
      expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^node_modules\/$[^]*^\.env$/m)
      expect(readFileSync(join(folder, '.env.example'), 'utf8')).not.toMatch(/secret|sk_|whsec_|password/i)
      expect(readdirSync(folder)).not.toContain('gitignore')
    }
  )

  it('writes a plain site by default, and says what to do next', async () => {
    const folder = join(temporaryFolder(), 'site')
    const { stdout } = await shopstead('', ['create', folder])
    expect(stdout).toMatch(/^ {2}npm install\n {2}npm run shop\n[^]*\n {2}npm run dev$/m)
    const versionsIn = ({ dependencies, devDependencies }: Manifest) => ({ ...dependencies, ...devDependencies })
    for (const shared of ['eta', 'typescript', '@types/node']) {
      const expected = versionsIn(own)[shared]
      expect(expected).toMatch(/^\d/)
      expect(versionsIn(manifestIn(folder))[shared]).toBe(expected)
    }
  })

  it('refuses a folder with files and a file in its place, and takes an empty folder', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'notes.txt')
    writeFileSync(file, 'mine')
    expect(await shopstead('', ['create', folder])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('notes.txt')
    })
    expect(await shopstead('', ['create', file])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a file')
    })
    expect(readdirSync(folder)).toEqual(['notes.txt'])
    expect(await shopstead('', ['create', folder, '--framework', 'rails'])).toMatchObject({ code: 2 })
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect((await shopstead('', ['create', empty])).code).toBe(0)
    expect(statSync(join(empty, 'server.ts')).isFile()).toBe(true)
  })
})

describe('the plain starter', () => {
  const files = readStarter('plain')
  const text = (path: string): string => files.get(path)?.toString('utf8') ?? ''

  it('is the demo storefront, with the client by the name of its package', () => {
    expect(text('storefront/public-files.ts')).toBe(readFileSync('src/pages/storefront/public-files.ts', 'utf8'))
    expect(text('templates/layout.eta')).toBe(readFileSync('src/pages/templates/layout.eta', 'utf8'))
    expect(text('storefront/site.ts')).toContain("from '@shopstead/client'")
    expect(text('assets/enhance.js')).toBe(readFileSync('src/pages/assets/enhance.js', 'utf8'))
  })

  it('imports only its own files and packages of its package.json', () => {
    const wrong = [...files].flatMap(([path, content]) => {
      if (!/\.(ts|js)$/.test(path)) return []
      const imports = [...content.toString('utf8').matchAll(/\b(?:from|import) '([^']+)'/g)].map(
        ([, from = '']) => from
      )
      return imports
        .filter((from) =>
          from.startsWith('.')
            ? !files.has(join(path, '..', from))
            : !/^(node:|@shopstead\/|eta$|\/client\/client\.js$)/.test(from)
        )
        .map((from) => `${path} imports ${from}`)
    })
    expect(wrong).toEqual([])
  })
})
