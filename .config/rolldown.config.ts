/**
 * Builds the published package. The program is one bundle of our code and the libraries that every start needs, because
 * reading their 400 files takes longer than the rest of a start. The dependencies in package.json stay outside: native
 * code, and libraries that load at first use. Command groups are separate chunks, as is the test kit. The typed client and
 * the proxy, which sites import, are separate bundles without code of the shop.
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'rolldown'
import type { CodeSplittingGroup, Plugin } from 'rolldown'
import ts from 'typescript'
import { billOfMaterials } from './sbom.ts'

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
/** Dependencies of listhen for features that we do not use. */
const neverLoaded = ['untun', 'clipboardy', 'jiti', '@parcel/watcher', '@parcel/watcher-wasm', 'crossws']
const installedBeside = new Set([...Object.keys(dependencies), ...neverLoaded])

function outside(id: string): boolean {
  if (/^(\.|\/|[A-Za-z]:\\|\0)/.test(id)) return false
  const [name = '', scoped = ''] = id.split('/')
  return isBuiltin(id) || installedBeside.has(name.startsWith('@') ? `${name}/${scoped}` : name)
}

const forSites = defineConfig({
  input: {
    'client/client': 'src/client/client.ts',
    'client/webhooks': 'src/client/webhooks.ts',
    'proxy/proxy': 'src/proxy/proxy.ts',
    'proxy/node': 'src/proxy/node.ts',
    ...modulesOfScripts()
  },
  platform: 'neutral',
  external: outside,
  // No module here has side effects.
  treeshake: { moduleSideEffects: false },
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    sourcemap: true,
    // The declarations have the docstrings.
    comments: { jsdoc: false },
    entryFileNames: '[name].js'
  },
  plugins: [frozenAllowlist(), declarations([...modulesIn('client'), 'proxy/proxy', 'proxy/upstream', 'proxy/node'])]
})

/**
 * The chunks of the program: the start of every command, the code that commands share, the listener, the shop, and the
 * rest of the server. A server loads all of them, and a command only those it needs. Without these groups there were 36
 * files, and a start took a third more CPU time. Each group includes what it imports.
 */
const layers: CodeSplittingGroup[] = [
  { name: 'program', tags: ['$initial'], test: /^(?!.*[\\/]src[\\/]testing[\\/])/, priority: 5 },
  {
    name: 'command',
    test: /[\\/]src[\\/](cli[\\/]run|platform[\\/](log|once-for|eventually|http[\\/]zod-errors))\.ts$/,
    priority: 4
  },
  { name: 'listener', test: /[\\/]src[\\/](proxy[\\/]mounted|platform[\\/]http[\\/]listen)\.ts$/, priority: 3 },
  { name: 'shop', test: /[\\/]src[\\/](app\.ts$|shop[\\/](?!.*(import|csv|payouts)))/, priority: 2 },
  { name: 'server', test: /[\\/]src[\\/]start-server\.ts$/, priority: 1 }
]

/** Loads when listhen first uses it. */
const late = 'node-forge'

const program = defineConfig({
  input: { main: 'src/cli/main.ts', 'testing/testing': 'src/testing/testing.ts' },
  platform: 'node',
  external: (id) => id !== late && outside(id),
  resolve: { alias: { [late]: join(import.meta.dirname, 'late-node-forge.ts') } },
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    codeSplitting: { groups: layers },
    chunkFileNames: 'chunks/[name]-[hash].js'
  },
  plugins: [frozenAllowlist(), declarations(['testing/testing', 'testing/types']), assets(), notices(), stamp()]
})

// The order matters: the first clears the folder, and the last stamps its content.
export default [forSites, program]

/** The modules of a folder of src, by name in dist. */
function modulesIn(folder: string): string[] {
  return globSync(`src/${folder}/*.ts`).map((file) => relative('src', file).replaceAll('\\', '/').replace(/\.ts$/, ''))
}

/** What the storefront's scripts import besides each other (pages/browser-module.ts), by name in dist. */
function modulesOfScripts(): Record<string, string> {
  const imports = globSync('src/pages/assets/*.js').flatMap((script) =>
    [...readFileSync(script, 'utf8').matchAll(/\bfrom '(\.[^']+)\.ts'/g)].map(([, path = '']) =>
      join(dirname(script), path)
    )
  )
  // The page names the texts of its language.
  const texts = globSync('src/pages/storefront/texts/scripts-*.ts').map((file) => file.replace(/\.ts$/, ''))
  return Object.fromEntries(
    [...imports, ...texts].map((path) => [relative('src', path).replaceAll('\\', '/'), `${path}.ts`])
  )
}

/** Replaces the proxy's allowlist with its value at build time, so that a site's server does not load the routes and the shop. */
function frozenAllowlist(): Plugin {
  return {
    name: 'shopstead:frozen-allowlist',
    async load(id) {
      if (!id.replaceAll('\\', '/').endsWith('/src/proxy/allowlist.ts')) return null
      const { allowlist } = (await import(pathToFileURL(id).href)) as { allowlist: unknown }
      return { code: `export const allowlist = ${JSON.stringify(allowlist)}`, moduleType: 'js' }
    }
  }
}

/** Writes the declarations of the modules that sites import. Each file declares all of its types explicitly. */
function declarations(files: readonly string[]): Plugin {
  return {
    name: 'shopstead:declarations',
    writeBundle() {
      for (const file of files) {
        const source = readFileSync(join('src', `${file}.ts`), 'utf8')
        const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
          fileName: `${file}.ts`,
          reportDiagnostics: true,
          compilerOptions: { target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, strict: true }
        })
        if (diagnostics.length > 0)
          throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostics[0]?.messageText, '\n')}`)
        const target = join('dist', `${file}.d.ts`)
        mkdirSync(dirname(target), { recursive: true })
        writeFileSync(target, outputText.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
      }
    }
  }
}

/** Copies the assets that the code reads at run time: src/platform/db/migrations becomes dist/platform/db/migrations. */
function assets(): Plugin {
  return {
    name: 'shopstead:assets',
    writeBundle() {
      for (const file of globSync('src/**/*.*', { exclude: (name) => name.endsWith('.ts') })) {
        // Only drizzle-kit reads these.
        if (file.endsWith('_snapshot.json')) continue
        cpSync(file, join('dist', file.slice('src/'.length)))
      }
    }
  }
}

/**
 * Writes the licences of the bundled packages, as they require, and the bill of materials. Only drizzle-orm's package lacks
 * its licence text.
 */
function notices(): Plugin {
  const bundled = new Map<string, string>()
  return {
    name: 'shopstead:notices',
    renderChunk(_, { modules }) {
      for (const id of Object.keys(modules)) {
        const [, folder, name] = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(id) ?? []
        if (folder !== undefined && name !== undefined) bundled.set(name, folder)
      }
      return null
    },
    writeBundle() {
      const names = [...bundled.keys()].toSorted()
      const versions = new Map(names.map((name) => [name, versionOf(bundled.get(name) ?? '')]))
      const texts = names.map((name) => `${name} ${versions.get(name)}\n\n${licenceOf(name, bundled.get(name) ?? '')}`)
      const about = "Shopstead's bundle (the JavaScript files in this folder) contains code of the following packages."
      writeFileSync('dist/THIRD-PARTY-NOTICES.txt', [about, ...texts].join(`\n\n${'-'.repeat(79)}\n\n`))
      writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(billOfMaterials(versions), null, 2)}\n`)
    }
  }
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

/** The licence text of a package. @throws Error when it has none */
function licenceOf(name: string, folder: string): string {
  if (name === 'drizzle-orm') return readFileSync('.config/licence-drizzle-orm.txt', 'utf8').trim()
  const [file] = globSync('{LICEN[SC]E,licen[sc]e}*', { cwd: folder })
  if (file === undefined) throw new Error(`The bundled package ${name} has no licence file.`)
  return readFileSync(join(folder, file), 'utf8').trim()
}

/** Writes a digest of the built files, which the service reports as its build id. */
function stamp(): Plugin {
  return {
    name: 'shopstead:stamp',
    writeBundle() {
      const digest = createHash('sha256')
      for (const file of globSync('dist/**/*.{js,sql,json}').toSorted()) digest.update(readFileSync(file))
      writeFileSync('dist/build-id', `${digest.digest('hex').slice(0, 12)}\n`)
    }
  }
}
