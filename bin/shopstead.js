#!/usr/bin/env node
// Plain JavaScript that old Node versions can parse, so that they print which version is needed.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`shopstead needs Node.js 22.18 or newer (this is ${process.version}).\n`)
  process.exit(1)
}

// Every file that a command creates is private: databases, backups, emails, exports and logs contain personal data.
process.umask(0o077)

// Keeps compiled code for the next start. Node's default folder is in /tmp, where another user could plant code to run.
const { CACHE_DIRECTORY, HOME } = process.env
const cache = CACHE_DIRECTORY || (HOME && join(HOME, '.cache'))
if (cache) nodeModule.enableCompileCache(join(cache, 'shopstead'))

// A checkout runs its sources; the published package contains only the bundle.
const source = new URL('../src/cli/main.ts', import.meta.url)
const { main } = await import(existsSync(source) ? source.href : '../dist/main.js')
process.exitCode = await main(process.argv.slice(2))
