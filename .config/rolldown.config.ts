/**
 * The published package: our own code and drizzle-orm in one bundle, because drizzle-orm's 131 modules alone cost a start
 * 400 ms; everything else stays outside, and command groups and Stripe stay chunks that are loaded when first needed.
 */
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'rolldown'
import type { Plugin } from 'rolldown'

const outside = (id: string): boolean => !/^(\.|\/|[A-Za-z]:\\|drizzle-orm)/.test(id)

export default defineConfig({
  input: 'src/cli/main.ts',
  platform: 'node',
  external: outside,
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js'
  },
  plugins: [assets(), notices(), stamp()]
})

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
