import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
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

it('the first purchase of the README buys something in the demo shop', async () => {
  const purchase = blocksIn('sh').find(({ file, code }) => file === 'README.md' && code.startsWith('API='))
  const shop = spawnShopstead(temporaryFolder(), ['dev', '--port', '0', '--json'])
  onTestFinished(() => void shop.kill('SIGKILL'))
  if (shop.stdout === null) throw new Error('The shop has no standard output.')
  const [line] = (await once(createInterface(shop.stdout), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
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
