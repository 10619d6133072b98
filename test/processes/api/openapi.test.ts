import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { apiDocument } from '../../support/described.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

it('the API description passes a linter without a warning', async () => {
  const file = join(temporaryFolder(), 'openapi.json')
  writeFileSync(file, JSON.stringify(apiDocument()))
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = await run('npx', ['redocly', 'lint', file, '--format=json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] })
})
