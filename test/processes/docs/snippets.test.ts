import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { blocksIn } from '../../docs/pages.ts'
import { spawnShopstead } from '../../support/command-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

it.each(blocksIn('sh'))('the shell understands the snippet of $place', ({ code }) => {
  const { status, stderr } = spawnSync('bash', ['-n', '-c', code], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

/** Runs the demo shop until the test ends, and returns its address. */
async function startDemo(dataDir: string): Promise<string> {
  const shop = spawnShopstead(dataDir, ['dev', '--port', '0', '--json'])
  onTestFinished(() => void shop.kill('SIGKILL'))
  if (shop.stdout === null) throw new Error('The shop has no standard output.')
  const [line] = (await once(createInterface(shop.stdout), 'line')) as [string]
  return (JSON.parse(line) as { url: string }).url
}

it('the commands for a site work in the demo shop, in their order', async () => {
  const dataDir = temporaryFolder()
  const url = await startDemo(dataDir)
  const code = blocksIn('sh')
    .filter(({ file }) => file === 'docs/building-a-site.md')
    .map((block) => block.code)
    .filter((text) => /^(curl|shopstead (settings|webhooks|openapi))/.test(text))
    .join('\n')
    .replaceAll('http://127.0.0.1:3000', url)
    .replaceAll('openapi.json', join(dataDir, 'openapi.json'))
  const program = `shopstead() { "${process.execPath}" bin/shopstead.js "$@" --data-dir "${dataDir}"; }`
  const { stdout } = await run('bash', ['-e', '-o', 'pipefail', '-c', `${program}\n${code}`])
  expect(stdout).toContain('emails.payUrl = https://www.example.com/pay?orderToken={orderToken}')
  expect(stdout).toMatch(/Webhook 1: https:\/\/www\.example\.com\/hooks\/shop\nSecret: whsec_/)
  expect(stdout).toContain('"slug":"storm-lantern"')
  expect(JSON.parse(readFileSync(join(dataDir, 'openapi.json'), 'utf8'))).toHaveProperty('paths')
})

it('the first purchase of the README buys something in the demo shop', async () => {
  const purchase = blocksIn('sh').find(({ file, code }) => file === 'README.md' && code.startsWith('API='))
  const url = await startDemo(temporaryFolder())
  const code = purchase?.code.replace('http://localhost:3000', url) ?? ''
  const { stdout } = await run('bash', ['-e', '-o', 'pipefail', '-c', code])
  const [registered = '', page = '', status, orders = '', me = ''] = stdout.trimEnd().split('\n')
  expect(JSON.parse(registered)).toMatchObject({ data: { user: { displayName: 'Ada Quill' } } })
  expect(page).toContain(`Payment page: ${url}/sandbox/checkout/`)
  expect(status).toBe('303')
  expect(JSON.parse(orders)).toMatchObject({
    data: {
      orders: [
        { status: 'processing', lineItems: [{ quantity: 2 }], affiliateRef: 'mira', affiliateCampaign: 'spring' }
      ]
    }
  })
  expect(JSON.parse(me)).toMatchObject({ data: { entitlements: { ordersSummary: { totalOrders: 1 } } } })
})
