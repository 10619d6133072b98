#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one is told what it lacks instead of failing somewhere inside.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`shopstead needs Node.js 22.18 or newer (this is ${process.version}).\n`)
  process.exit(1)
}

// A checkout runs its sources; the published package has none and runs the bundle.
const source = new URL('../src/cli/main.ts', import.meta.url)
const isCheckout = existsSync(source)
if (isCheckout) startFaster()
const { main } = await import(isCheckout ? source.href : '../dist/main.js')
await main(process.argv.slice(2))

/**
 * What has been compiled is kept for the next start. And drizzle-orm is taken by its CommonJS files: each of its 130 ES
 * modules would read its large package.json again, which takes 300 ms.
 */
function startFaster() {
  nodeModule.enableCompileCache()
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const conditions = /^drizzle-orm(\/|$)/.test(specifier) ? ['node', 'require'] : context.conditions
      return next(specifier, { ...context, conditions })
    }
  })
}
