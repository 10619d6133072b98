/**
 * The published package. The program: our own code and drizzle-orm in one bundle, because drizzle-orm's 131 modules alone
 * cost a start 400 ms; everything else stays outside, and command groups and Stripe stay chunks that are loaded when first
 * needed. And what a site takes into its own code: the typed client and the proxy, without anything of the shop.
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'rolldown'
import type { Plugin } from 'rolldown'
import ts from 'typescript'

const outside = (id: string): boolean => !/^(\.|\/|[A-Za-z]:\\|drizzle-orm)/.test(id)

const forSites = defineConfig({
  input: {
    'client/client': 'src/client/client.ts',
    'proxy/proxy': 'src/proxy/proxy.ts',
    'proxy/node': 'src/proxy/node.ts'
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

const program = defineConfig({
  input: 'src/cli/main.ts',
  platform: 'node',
  external: outside,
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js'
  },
  plugins: [frozenAllowlist(), assets(), notices(), stamp()]
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

/** The Apache License asks that its text goes along with drizzle-orm's code. */
function notices(): Plugin {
  return {
    name: 'shopstead:notices',
    writeBundle: () => cpSync('.config/third-party-notices.txt', 'dist/THIRD-PARTY-NOTICES.txt')
  }
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
