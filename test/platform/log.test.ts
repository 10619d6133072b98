import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { Environment, LogLevel } from '../../src/platform/config/config.ts'
import { createLogger } from '../../src/platform/log.ts'
import type { Logger } from '../../src/platform/log.ts'

/** What a logger writes while `work` uses it. */
function logged(env: Environment, work: (log: Logger) => void, level: LogLevel = 'info'): Promise<string> {
  const output = new PassThrough()
  work(createLogger({ env, level, output }))
  output.end()
  return text(output)
}

describe('a log line', () => {
  test.each(['production', 'test'] as const)('is one JSON document with its fields in %s', async (env) => {
    const fields = { orderId: 7, reason: 'a "reason"', code: null, path: undefined }
    const line = await logged(env, (log) => log.warn('two\nlines', fields))
    expect(line.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'warn',
      message: 'two\nlines',
      orderId: 7,
      reason: 'a "reason"',
      code: null
    })
  })

  test('is plain text in development', async () => {
    const line = await logged('development', (log) => log.info('request', { method: 'GET', status: 200 }))
    expect(line).toContain('request method=GET status=200')
  })

  test('has only allowed fields', async () => {
    const fields = { email: 'lena@shop.example', password: 'harbour-lantern-42', headers: 'x', orderId: 7 }
    for (const env of ['production', 'development'] as const) {
      const line = await logged(env, (log) => log.info('a line', fields))
      expect(line).toContain('a line')
      expect(line).not.toMatch(/lena|harbour|headers/)
    }
  })

  test.each([
    ['550 <lena.müller+shop@shöp.example> is unknown', '550 <[address]> is unknown'],
    ['connect smtp://user:pass@mail.example.com:25 failed', 'connect smtp://[secret]@mail.example.com:25 failed'],
    ['Invalid API Key provided: sk_live_51Habc', 'Invalid API Key provided: [secret]'],
    ['pi_3Abc_secret_9xyz is no id', '[secret] is no id'],
    ['signed with whsec_abc+/=', 'signed with [secret]'],
    ['hash $argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA', 'hash [secret]'],
    ['Authorization: Bearer abc.def-1', 'Authorization: Bearer [secret]'],
    ['GET /verify?token=abc123&x=1', 'GET /verify?token=[secret]&x=1'],
    ['cookie __Host-shopstead_session=abc; a=b', 'cookie __Host-shopstead_session=[secret]; a=b'],
    ['card 4242 4242 4242 4242 declined', 'card [number] declined'],
    [
      'at 1795176099089 in node_modules/@node-rs/argon2/index.js',
      'at 1795176099089 in node_modules/@node-rs/argon2/index.js'
    ]
  ])('writes "%s" as "%s"', async (message, written) => {
    const line = await logged('production', (log) => log.error(message, { error: message }))
    expect(JSON.parse(line)).toMatchObject({ message: written, error: written })
  })

  test('keeps ids unchanged', async () => {
    const requestId = '3f123456-7890-1234-5678-901234567890'
    expect(await logged('production', (log) => log.info('request', { requestId }))).toContain(requestId)
  })

  test('below the level is not written', async () => {
    const three = (log: Logger): void => {
      log.info('a')
      log.debug('b')
      log.warn('c')
    }
    expect((await logged('production', three, 'warn')).trim().split('\n')).toHaveLength(1)
    expect(await logged('production', (log) => log.error('a'), 'silent')).toBe('')
  })
})
