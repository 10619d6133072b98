/**
 * The published package. The program: our own code and the libraries that every start needs in one bundle, because reading
 * their 400 files one by one takes longer than all the rest of a start. What is installed beside the package and stays
 * outside is what package.json names as dependencies: native code, and what is loaded when first needed; so are command
 * groups, as chunks. And what a site takes into its own code: the typed client and the proxy, without anything of the shop.
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'rolldown'
import type { CodeSplittingGroup, Plugin } from 'rolldown'
import ts from 'typescript'

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
/** Of listhen's, for what we never ask of it. */
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
    'proxy/proxy': 'src/proxy/proxy.ts',
    'proxy/node': 'src/proxy/node.ts',
    // The storefront's scripts import it (pages/browser-module.ts).
    'shop/orders/states': 'src/shop/orders/states.ts'
  },
  platform: 'neutral',
  external: outside,
  // What is only imported for its side effects has none here.
  treeshake: { moduleSideEffects: false },
  output: { dir: 'dist', cleanDir: true, format: 'esm', sourcemap: true, entryFileNames: '[name].js' },
  plugins: [
    frozenAllowlist(),
    declarations(['client/client', 'client/api-types', 'proxy/proxy', 'proxy/upstream', 'proxy/node'])
  ]
})

/**
 * A server needs all of these, and no command loads one that it has no use for: what every command starts with, what runs
 * it and is shared by the others, what listens, the shop, and the rest of the server. One by one their modules made 36
 * files, and a quarter of a start was finding and reading them. Each takes along what it imports.
 */
const layers: CodeSplittingGroup[] = [
  { name: 'program', tags: ['$initial'], priority: 5 },
  {
    name: 'command',
    test: /[\\/]src[\\/](cli[\\/]run|platform[\\/](log|once-for|eventually|http[\\/]zod-errors))\.ts$/,
    priority: 4
  },
  { name: 'listener', test: /[\\/]src[\\/](proxy[\\/]mounted|platform[\\/]http[\\/]listen)\.ts$/, priority: 3 },
  { name: 'shop', test: /[\\/]src[\\/](app\.ts$|shop[\\/](?!.*(import|csv)))/, priority: 2 },
  { name: 'server', test: /[\\/]src[\\/]start-server\.ts$/, priority: 1 }
]

const program = defineConfig({
  input: 'src/cli/main.ts',
  platform: 'node',
  external: outside,
  // listhen imports it a second time, for nothing but its side effects; see lateCertificates.
  treeshake: { moduleSideEffects: [{ test: /^node-forge$/, sideEffects: false }] },
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    // V8 keeps the text of what it runs, and twice as large when there is one letter that is not Latin in it.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    codeSplitting: { groups: layers },
    chunkFileNames: 'chunks/[name]-[hash].js'
  },
  plugins: [frozenAllowlist(), lateCertificates(), lateSegmenter(), assets(), notices(), stamp()]
})

// In this order: the first clears the folder, the last stamps all that is in it.
export default [forSites, program]

/** The proxy's allowlist as the route table has it now, so that a site's server need not load the routes and the shop behind them. */
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

/** The types of what sites import, file by file: each says all of its types itself. */
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

/** What the code reads at run time keeps its place: src/platform/db/migrations becomes dist/platform/db/migrations. */
function assets(): Plugin {
  return {
    name: 'shopstead:assets',
    writeBundle() {
      for (const file of globSync('src/**/*.*', { exclude: (name) => name.endsWith('.ts') })) {
        // drizzle-kit's own memory; the program never reads it.
        if (file.endsWith('_snapshot.json')) continue
        cpSync(file, join('dist', file.slice('src/'.length)))
      }
    }
  }
}

/** listhen makes certificates by node-forge, which takes a tenth of a start: it is loaded when one is asked for. */
function lateCertificates(): Plugin {
  const early = "import forge from 'node-forge';"
  return {
    name: 'shopstead:late-certificates',
    transform(code, id) {
      if (!/[\\/]listhen[\\/]dist[\\/]shared[\\/].*\.mjs$/.test(id)) return null
      if (!code.includes(early)) throw new Error('listhen no longer imports node-forge as it did.')
      const late = "import { createRequire } from 'node:module'; const load = createRequire(import.meta.url);"
      // Its lines stay where they were.
      return { code: code.replace(early, late).replaceAll(/\bforge\./g, "load('node-forge')."), map: null }
    }
  }
}

/** consola counts letters by Intl.Segmenter, whose data take 20 ms to read: it is made when a line is first laid out. */
function lateSegmenter(): Plugin {
  const early = /const segmenter = (globalThis\.Intl\?\.Segmenter .*);/
  return {
    name: 'shopstead:late-segmenter',
    transform(code, id) {
      if (!/[\\/]consola[\\/]dist[\\/]index\.mjs$/.test(id)) return null
      if (!early.test(code)) throw new Error('consola no longer makes its segmenter as it did.')
      const late = 'let made; const segmenter = { segment: (text) => (made ??= $1).segment(text) };'
      return { code: code.replace(early, late), map: null }
    }
  }
}

/** The licences of what is bundled ask that their texts go along; drizzle-orm alone does not bring its own. */
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
      const texts = [...bundled.keys()]
        .toSorted()
        .map((name) => `${name}\n\n${licenceOf(name, bundled.get(name) ?? '')}`)
      const about = "Shopstead's bundle (the JavaScript files in this folder) contains code of the following packages."
      writeFileSync('dist/THIRD-PARTY-NOTICES.txt', [about, ...texts].join(`\n\n${'-'.repeat(79)}\n\n`))
    }
  }
}

/** @throws Error for a package that says nothing of its licence */
function licenceOf(name: string, folder: string): string {
  if (name === 'drizzle-orm') return readFileSync('.config/licence-drizzle-orm.txt', 'utf8').trim()
  const [file] = globSync('{LICEN[SC]E,licen[sc]e}*', { cwd: folder })
  if (file === undefined) throw new Error(`${name} is bundled, and its licence is not found.`)
  return readFileSync(join(folder, file), 'utf8').trim()
}

/** A digest of all that was built, which the service reports as its build id. */
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
