/**
 * Builds the published package. The program is one bundle of our code and the libraries that every start needs, because
 * reading their 400 files takes longer than the rest of a start. The dependencies in package.json stay outside: native
 * code, and libraries that load at first use. stripe-node loads at first use too, but as a chunk, because its 200 files
 * take 8 MB more memory. Command groups are separate chunks, as is the test kit. The typed client and the proxy, which
 * sites import, are separate bundles without code of the shop. Their folders in dist are also packages of their own.
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'rolldown'
import type { CodeSplittingGroup, Plugin } from 'rolldown'
import { readStarter, starters } from '../src/operations/starters/create-site.ts'
import type { StarterName } from '../src/operations/starters/create-site.ts'
import { assetFiles } from './assets.ts'
import { manPageFile } from './man-page.ts'
import { notices } from './notices.ts'
import { declarations, modulesOf, sitePackage, sitePackages } from './site-packages.ts'

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
    ...Object.fromEntries(sitePackages.flatMap(modulesOf).map((module) => [module, `src/${module}.ts`])),
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
    entryFileNames: '[name].js',
    // What two modules share is in the folder of its source, so that a package is complete.
    chunkFileNames: ({ moduleIds }) =>
      `${relative('src', dirname(moduleIds.at(-1) ?? 'src')).replaceAll('\\', '/')}/[name]-[hash].js`
  },
  plugins: [frozenAllowlist(), ...sitePackages.map(sitePackage)]
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
    test: /[\\/]src[\\/](cli[\\/]run|platform[\\/](log|once-for|shop-id|config[\\/]config|http[\\/]validation))\.ts$/,
    priority: 4
  },
  { name: 'listener', test: /[\\/]src[\\/](proxy[\\/]mounted|platform[\\/]http[\\/]listen)\.ts$/, priority: 3 },
  {
    name: 'shop',
    test: /[\\/]src[\\/](app\.ts$|shop[\\/](?!.*(import|csv|payouts|referrals[\\/]admin)))/,
    priority: 2
  },
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
    // V8 keeps the source of each chunk in memory: two bytes for each character when one of them is not in Latin-1.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    entryFileNames: '[name].js',
    codeSplitting: { groups: layers },
    chunkFileNames: 'chunks/[name]-[hash].js'
  },
  plugins: [
    frozenAllowlist(),
    declarations(['testing/testing']),
    assets(),
    starterFiles(),
    manPageFile(),
    notices(),
    stamp()
  ]
})

// The order matters: the first clears the folder, and the last stamps its content.
export default [forSites, program]

/** What the storefront's scripts import besides each other (pages/assets.ts), by name in dist. */
function modulesOfScripts(): Record<string, string> {
  const imports = globSync('src/pages/assets/*.js').flatMap((script) =>
    [...readFileSync(script, 'utf8').matchAll(/\bfrom '(\.[^']+)\.ts'/g)].map(([, path = '']) =>
      join(dirname(script), path)
    )
  )
  return Object.fromEntries(imports.map((path) => [relative('src', path).replaceAll('\\', '/'), `${path}.ts`]))
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

/** Copies the assets that the code reads at run time: src/platform/db/migrations becomes dist/platform/db/migrations. */
function assets(): Plugin {
  return {
    name: 'shopstead:assets',
    writeBundle() {
      for (const file of assetFiles()) cpSync(file, join('dist', file.slice('src/'.length)))
    }
  }
}

/** Writes the files of each starter, because the package does not contain the sources that they come from. */
function starterFiles(): Plugin {
  return {
    name: 'shopstead:starters',
    writeBundle() {
      for (const name of Object.keys(starters) as StarterName[]) {
        for (const [path, content] of readStarter(name)) {
          const target = join('dist', 'starters', name, path)
          mkdirSync(dirname(target), { recursive: true })
          writeFileSync(target, content)
        }
      }
    }
  }
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
