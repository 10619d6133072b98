import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'

/** The standard error output of a process that runs `script` with a logger. */
function logged(env: 'production' | 'test' | 'development', script: string, level = 'info'): string {
  const source = `
    const { createLogger } = await import('./src/platform/log.ts')
    const log = createLogger({ env: '${env}', level: '${level}' })
    ${script}`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', TEST: '', NODE_ENV: '' }
  })
  expect(child.stdout).toBe('')
  return child.stderr
}

describe('a log line', () => {
  test.each(['production', 'test'] as const)('is one JSON document with its fields in %s', (env) => {
    const text = logged(
      env,
      `log.warn('two\\nlines', { orderId: 7, reason: 'a "reason"', code: null, path: undefined })`
    )
    expect(text.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(text)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'warn',
      message: 'two\nlines',
      orderId: 7,
      reason: 'a "reason"',
      code: null
    })
  })

  test('is plain text in development', () => {
    expect(logged('development', `log.info('request', { method: 'GET', status: 200 })`)).toContain(
      'request method=GET status=200'
    )
  })

  test('has only allowed fields', () => {
    const fields = `{ email: 'lena@shop.example', password: 'harbour-lantern-42', headers: 'x', orderId: 7 }`
    for (const env of ['production', 'development'] as const) {
      expect(logged(env, `log.info('a line', ${fields})`)).not.toMatch(/lena|harbour|headers/)
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
  ])('tells "%s" as "%s"', (given, told) => {
    const line = JSON.parse(
      logged('production', `log.error(${JSON.stringify(given)}, { error: ${JSON.stringify(given)} })`)
    )
    expect(line).toMatchObject({ message: told, error: told })
  })

  test('keeps ids unchanged', () => {
    const id = '3f123456-7890-1234-5678-901234567890'
    expect(logged('production', `log.info('request', { requestId: '${id}' })`)).toContain(id)
  })

  test('below the level is not written', () => {
    expect(
      logged('production', `log.info('a'); log.debug('b'); log.warn('c')`, 'warn').trim().split('\n')
    ).toHaveLength(1)
    expect(logged('production', `log.error('a')`, 'silent')).toBe('')
  })
})
