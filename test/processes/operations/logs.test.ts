import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { exitOf, runShopstead, spawnShopstead } from '../../support/command-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

test('a production server writes only JSON lines, without secrets or email addresses', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const env = {
    SHOPSTEAD_ENV: 'production',
    SHOPSTEAD_PUBLIC_URL: 'https://shop.example',
    SHOPSTEAD_PAYMENTS: 'stripe',
    SHOPSTEAD_SMTP_URL: 'smtp://robot:smtp-word@127.0.0.1:1',
    SHOPSTEAD_PORT: '0'
  }
  expect((await runShopstead(dataDir, ['init'], { env })).code).toBe(0)
  await runShopstead(dataDir, ['webhooks', 'add', 'http://127.0.0.1:1/hook?token=receivers-own'], { env })
  const server = spawnShopstead(dataDir, ['serve', '--json'], { env })
  onTestFinished(() => void server.kill('SIGKILL'))
  const ended = exitOf(server)
  let written = ''
  server.stderr?.setEncoding('utf8').on('data', (text: string) => void (written += text))
  const { url } = await new Promise<{ url: string }>((resolve, reject) => {
    server.stdout?.once('data', (text: Buffer) => resolve(JSON.parse(text.toString()) as { url: string }))
    void ended.then(() => reject(new Error(written)))
  })

  const visitor = new Browser(`${url}/api/v1`)
  const registered = await visitor.register({ email: 'lena.private@shop.example' })
  expect(registered.status).toBe(201)
  await visitor.post('/auth/login', { email: 'lena.private@shop.example', password: 'wrong-word-13' })
  await visitor.post('/auth/forgot-password', { email: 'lena.private@shop.example' })
  await visitor.post('/auth/reset-password', { token: 'a-token-of-hers', password: 'another-word-14' })
  await visitor.post('/store/checkout-session', '{"items": [', {})
  await visitor.post('/webhooks/stripe', '{}', { 'stripe-signature': 't=1,v1=abc' })
  await until('a failed attempt', () => written.includes('will retry'))
  server.kill('SIGTERM')
  expect(await ended).toBe(0)

  const lines = written.trim().split('\n')
  expect(lines.length).toBeGreaterThan(8)
  for (const text of lines) {
    expect(JSON.parse(text)).toEqual(
      expect.objectContaining({ time: expect.any(String), level: expect.any(String), message: expect.any(String) })
    )
  }
  const cookies = [...visitor.cookies.values()]
  expect(cookies).toHaveLength(2)
  for (const hidden of ['lena', 'word-1', 'harbour', 'smtp-word', 'robot', 'receivers-own', 'a-token-of', ...cookies])
    expect(written).not.toContain(hidden)
  expect(written).toContain('"path":"/auth/login","status":401')
})
