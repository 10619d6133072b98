import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Added = { secret: string; webhook: { id: number } }
const wait = { timeout: 20_000 }
type Deliveries = { deliveries: { id: number; type: string; state: string }[] }

test('an operator adds an address while the shop runs, sees what it was sent, and sends it again', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const shop = await startShop({ dataDir })
  onTestFinished(() => shop.stop())
  const received: { body: string; headers: Record<string, string> }[] = []
  const site = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => void (body += chunk.toString()))
    request.on('end', () => {
      received.push({ body, headers: request.headers as Record<string, string> })
      response.end('thanks')
    })
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())

  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/hook`
  const added = await shopstead<Added>(dataDir, [
    'webhooks',
    'add',
    url,
    '--types',
    'account.registered',
    '--full',
    '--json'
  ])
  expect(added).toMatchObject({ code: 0, json: { webhook: { id: 1, types: ['account.registered'], full: true } } })
  expect(added.stderr).toContain('the names, emails and addresses of buyers')
  expect(added.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect((await shop.visitor().register()).status).toBe(201)
  await expect.poll(() => received, wait).toHaveLength(1)
  expect(new Webhook(added.json.secret).verify(received[0]?.body ?? '', received[0]?.headers ?? {})).toMatchObject({
    type: 'account.registered',
    data: { userId: 1, customer: { id: 1, email: expect.stringContaining('@') } }
  })

  const listed = await shopstead(dataDir, ['webhooks', 'list', '--json'])
  expect(listed.json).toMatchObject({ webhooks: [{ id: 1, url, failed: 0 }] })
  expect(listed.stdout).not.toContain('whsec_')
  const deliveries = async () =>
    (await shopstead<Deliveries>(dataDir, ['webhooks', 'deliveries', '--json'])).json.deliveries
  await expect.poll(deliveries, wait).toMatchObject([{ type: 'account.registered', lastStatus: 200 }])
  const [sent] = await deliveries()
  const replayed = await shopstead(dataDir, ['webhooks', 'replay', String(sent?.id), '--json'])
  expect(replayed.json).toEqual({ replayed: 1 })
  await expect.poll(() => received, wait).toHaveLength(2)

  const rotated = await shopstead<Added>(dataDir, ['webhooks', 'rotate', '1', '--overlap', '1h', '--json'])
  expect(rotated.json).toMatchObject({ webhook: { id: 1, url }, oldSecretEndsAt: expect.stringMatching(/Z$/) })
  expect(JSON.stringify(rotated.json.webhook)).not.toContain('whsec_')
  await shopstead(dataDir, ['webhooks', 'replay', String(sent?.id)])
  await expect.poll(() => received, wait).toHaveLength(3)
  for (const { secret } of [added.json, rotated.json])
    expect(new Webhook(secret).verify(received[2]?.body ?? '', received[2]?.headers ?? {})).toBeTruthy()
  const ended = await shopstead(dataDir, ['webhooks', 'rotate', '1', '--overlap', '0'])
  expect(ended.stdout).toMatch(/Secret: whsec_[^]*The old secret has ended\./)
  expect((await shopstead(dataDir, ['webhooks', 'rotate', '2'])).code).toBe(1)
  for (const overlap of ['31d', 'soon', '-1'])
    expect((await shopstead(dataDir, ['webhooks', 'rotate', '1', '--overlap', overlap])).code).toBe(2)

  expect((await shopstead(dataDir, ['webhooks', 'remove', '1', '--yes', '--json'])).json).toMatchObject({
    removed: { id: 1 }
  })
  expect((await shopstead(dataDir, ['webhooks', 'remove', '1', '--yes', '--json'])).code).toBe(1)
  expect((await shopstead(dataDir, ['webhooks', 'remove', 'one', '--yes', '--json'])).code).toBe(2)
  expect((await shopstead(dataDir, ['webhooks', 'replay', '--json'])).code).toBe(2)
  expect((await shopstead(dataDir, ['events', 'list', '--json'])).json).toMatchObject({
    events: [{ id: 1, type: 'account.registered', data: { userId: 1 } }]
  })
  expect((await shopstead(dataDir, ['events', 'list', '--type', 'nothing', '--json'])).code).toBe(2)
})
