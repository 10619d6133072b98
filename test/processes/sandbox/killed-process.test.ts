import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBench } from '../../sandbox/sandbox-support.ts'
import type { Bench } from '../../sandbox/sandbox-support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench()
})

afterEach(() => bench.close())

type Ended = { signal: string | null; out: string }

/** Pays in a separate process; resolves with what it printed and the signal that ended it. */
async function payElsewhere(key: string): Promise<Ended> {
  const script = fileURLToPath(new URL('./killed-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, bench.file, key], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  return new Promise((resolve) => child.on('close', (_code, signal) => resolve({ signal, out })))
}

const charges = (): number => bench.sandbox.ledger().charges.length

describe('a process that is killed during a request', () => {
  test('charges nothing and leaves its key free when killed before the effect', async () => {
    bench.sandbox.addFault({ target: 'payment_intents.create', fault: 'kill', moment: 'before' })
    expect((await payElsewhere('k1')).signal).toBe('SIGKILL')
    expect(charges()).toBe(0)
    expect((await payElsewhere('k1')).out).toMatch(/^pi_/)
    expect(charges()).toBe(1)
  })

  test('charges once when killed after the effect, and the next process gets its answer by the key', async () => {
    bench.sandbox.addFault({ target: 'payment_intents.create', fault: 'kill', moment: 'after' })
    expect((await payElsewhere('k2')).signal).toBe('SIGKILL')
    expect(charges()).toBe(1)
    expect((await payElsewhere('k2')).out).toBe(bench.sandbox.ledger().intents[0]?.id)
    expect(charges()).toBe(1)
  })
})

describe('four concurrent processes', () => {
  test('charge once under one key and get the same answer', async () => {
    const ended = await Promise.all([1, 2, 3, 4].map(async () => payElsewhere('k3')))
    expect(new Set(ended.map(({ out }) => out)).size).toBe(1)
    expect(charges()).toBe(1)
  })
})
