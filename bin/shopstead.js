#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one is told what it lacks instead of failing somewhere inside.
import { existsSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`shopstead needs Node.js 22.18 or newer (this is ${process.version}).\n`)
  process.exit(1)
}

// A checkout runs its sources; the published package has none and runs the bundle.
const source = new URL('../src/cli/main.ts', import.meta.url)
const { main } = await import(existsSync(source) ? source.href : '../dist/main.js')
await main(process.argv.slice(2))
