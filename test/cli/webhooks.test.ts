import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { runShopstead, temporaryFolder } from '../support/command-line.ts'
import { startShop } from '../support/running-shop.ts'

type Added = { secret: string; webhook: { id: number } }
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
  const until = async (count: number): Promise<void> => {
    for (let tries = 0; tries < 400 && received.length < count; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 25))
    expect(received).toHaveLength(count)
  }

  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/hook`
  const added = await runShopstead<Added>(dataDir, ['webhooks', 'add', url, '--types', 'account.registered', '--json'])
  expect(added).toMatchObject({ exitCode: 0, json: { webhook: { id: 1, types: ['account.registered'] } } })
  expect(added.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect((await shop.visitor().register()).status).toBe(201)
  await until(1)
  expect(new Webhook(added.json.secret).verify(received[0]?.body ?? '', received[0]?.headers ?? {})).toMatchObject({
    type: 'account.registered',
    data: { userId: 1 }
  })

  const listed = await runShopstead(dataDir, ['webhooks', 'list', '--json'])
  expect(listed.json).toMatchObject({ webhooks: [{ id: 1, url, failed: 0 }] })
  expect(listed.stdout).not.toContain('whsec_')
  const { json } = await runShopstead<Deliveries>(dataDir, ['webhooks', 'deliveries', '--json'])
  expect(json.deliveries).toMatchObject([{ type: 'account.registered', lastStatus: 200 }])
  const replayed = await runShopstead(dataDir, ['webhooks', 'replay', String(json.deliveries[0]?.id), '--json'])
  expect(replayed.json).toEqual({ replayed: 1 })
  await until(2)

  expect((await runShopstead(dataDir, ['webhooks', 'remove', '1', '--json'])).json).toMatchObject({
    removed: { id: 1 }
  })
  expect((await runShopstead(dataDir, ['webhooks', 'remove', '1', '--json'])).exitCode).toBe(1)
  expect((await runShopstead(dataDir, ['webhooks', 'remove', 'one', '--json'])).exitCode).toBe(2)
  expect((await runShopstead(dataDir, ['webhooks', 'replay', '--json'])).exitCode).toBe(2)
  expect((await runShopstead(dataDir, ['events', 'list', '--json'])).json).toMatchObject({
    events: [{ id: 1, type: 'account.registered', data: { userId: 1 } }]
  })
  expect((await runShopstead(dataDir, ['events', 'list', '--type', 'nothing', '--json'])).exitCode).toBe(2)
})
