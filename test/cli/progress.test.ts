import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'

const long: [args: string[], step: string][] = [
  [['offers', 'import', 'seeds/offers.example.json', '--dry-run'], 'checking 5 products'],
  [['offers', 'export'], 'reading the catalog'],
  [['referrals', 'export', '--out', 'NEW FILE'], 'referrals written'],
  [['users', 'export', 'lena@shop.example'], 'collecting'],
  [['orders', 'reconcile'], 'asking the gateway']
]

/** Runs a command, which writes to a new file each time. */
function run(dataDir: string, args: string[], options: { answers?: boolean[] } = {}) {
  const filled = args.map((arg) => (arg === 'NEW FILE' ? join(dataDir, randomUUID()) : arg))
  return shopstead(dataDir, filled, options)
}

it.each(long)('shopstead %j shows on a terminal what it is doing, and clears the line', async (args, step) => {
  const { code, stdout, stderr } = await run(demoShop(), args, { answers: [] })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(step) })
  expect(stderr.endsWith('\r\u001B[K')).toBe(true)
  expect(stdout).not.toContain('\u001B')
})

it.each(long)('shopstead %j prints only its result without a terminal, and with --json', async (args) => {
  const dataDir = demoShop()
  expect(await run(dataDir, args)).toMatchObject({ code: 0, stderr: '' })
  expect(await run(dataDir, [...args, '--json'], { answers: [] })).toMatchObject({ code: 0, stderr: '' })
})

it('shopstead backup create prints no progress without a terminal', async () => {
  expect(await shopstead(demoShop(), ['backup', 'create'])).toMatchObject({ code: 0, stderr: '' })
})
