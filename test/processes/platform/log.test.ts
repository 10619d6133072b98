import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('a log is written to standard error, also when its process exits in the same turn', () => {
  const script = `
    const { createLogger } = await import('./src/platform/log.ts')
    createLogger({ env: 'production', level: 'info' }).error('the last line')
    process.exit(3)`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(child).toMatchObject({ status: 3, stdout: '' })
  expect(JSON.parse(child.stderr)).toMatchObject({ level: 'error', message: 'the last line' })
})
