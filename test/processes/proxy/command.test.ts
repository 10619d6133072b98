import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startShop } from '../../support/running-shop.ts'
import type { RunningShop } from '../../support/running-shop.ts'
import { visitThrough } from '../../proxy/journey.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop()
})
afterAll(() => shop.stop())

function start(...args: string[]) {
  const env = { ...process.env, SHOPSTEAD_LOG: 'silent' }
  const child = spawn(process.execPath, ['bin/shopstead.js', 'proxy', '--port', '0', '--json', ...args], { env })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, ended, line: async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown> }
}

it('shopstead proxy serves a visitor until it is stopped by a signal', async () => {
  const { child, ended, line } = start('--upstream', shop.url)
  const { proxyRoot } = await line()
  expect(await visitThrough(String(proxyRoot))).toBe(401)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
