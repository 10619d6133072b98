#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one is told what it lacks instead of failing somewhere inside.
import { existsSync, mkdirSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`shopstead needs Node.js 22.18 or newer (this is ${process.version}).\n`)
  process.exit(1)
}

keepCompiled()
// A checkout runs its sources; the published package has none and runs the bundle.
const source = new URL('../src/cli/main.ts', import.meta.url)
const isCheckout = existsSync(source)
if (isCheckout) skipModulesOfDrizzle()
const { main } = await import(isCheckout ? source.href : '../dist/main.js')
process.exitCode = await main(process.argv.slice(2))

/** What has been compiled is kept for the next start; where no folder is to be had, as in some containers, it is not. */
function keepCompiled() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env
  // Code is run from it, so it is never a place that others can write to, as Node's own choice is.
  const caches = CACHE_DIRECTORY || XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, '.cache'))
  if (!caches) return
  const folder = join(caches, 'shopstead')
  if (hasOrMakes(caches) && hasOrMakes(folder)) nodeModule.enableCompileCache(folder)
}

/** One folder at a time: Node would make those above it too, and never comes back from that in /proc. */
function hasOrMakes(path) {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch {
    return existsSync(path)
  }
  return true
}

/** drizzle-orm is taken by its CommonJS files: each of its 130 ES modules would read its package.json again, in 300 ms. */
function skipModulesOfDrizzle() {
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const conditions = /^drizzle-orm(\/|$)/.test(specifier) ? ['node', 'require'] : context.conditions
      return next(specifier, { ...context, conditions })
    }
  })
}
