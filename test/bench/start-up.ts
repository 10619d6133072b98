/**
 * Measures `shopstead dev` from its start to its first response, with an empty folder and with an existing shop. Prints
 * the median of several runs of each. Exits with 1 when one is above its limit (3 s and 1 s).
 *
 * Usage: node test/bench/start-up.ts [--runs 5]
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '5' } } })
const runs = Number(values.runs)
const promisedMs = { empty: 3000, existing: 1000 }

async function firstAnswerMs(dataDir: string): Promise<number> {
  const started = performance.now()
  const child = spawn(process.execPath, ['bin/shopstead.js', 'dev', '--port', '0', '--json', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SHOPSTEAD_LOG: 'error' }
  })
  try {
    const lines = createInterface({ input: child.stdout })
    const { value } = (await lines[Symbol.asyncIterator]().next()) as { value?: string }
    if (value === undefined) throw new Error('shopstead dev ended without output')
    const { apiRoot } = JSON.parse(value) as { apiRoot: string }
    const answer = await fetch(`${apiRoot}/health`)
    if (answer.status !== 200) throw new Error(`/health returned ${answer.status}`)
    return performance.now() - started
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

const figures = { empty: [] as number[], existing: [] as number[] }
for (let run = 0; run < runs; run += 1) {
  const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-start-'))
  figures.empty.push(await firstAnswerMs(dataDir))
  figures.existing.push(await firstAnswerMs(dataDir))
  rmSync(dataDir, { recursive: true })
}

for (const folder of ['empty', 'existing'] as const) {
  const ms = median(figures[folder])
  const verdict = ms <= promisedMs[folder] ? 'reached' : 'MISSED'
  process.stdout.write(
    `${folder} folder: first response after ${Math.round(ms)} ms (median of ${runs}; at most ${promisedMs[folder]} ms: ${verdict})\n`
  )
  if (ms > promisedMs[folder]) process.exitCode = 1
}
