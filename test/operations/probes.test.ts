import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { startServer } from '../../src/start-server.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

test('/livez reports that the process answers; /readyz and /health report that the database answers too', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir, SHOPSTEAD_PORT: '0' }
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const app = createApp(parseConfig(env), { database: 'migrated' }, { log: silent })
  const server = await startServer(app)
  onTestFinished(() => server.stop())
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).status
  expect(await Promise.all(['/livez', '/readyz', '/api/v1/health'].map(statusOf))).toEqual([200, 200, 200])
  for (const path of ['/livez', '/readyz']) {
    const probe = await fetch(`http://127.0.0.1:${server.port}${path}`)
    expect(probe.headers.get('x-content-type-options')).toBe('nosniff')
  }
  const posted = await fetch(`http://127.0.0.1:${server.port}/livez`, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  renameSync(join(dataDir, 'shopstead.db'), join(dataDir, 'gone.db'))
  app.close()
  expect(await Promise.all(['/livez', '/readyz', '/api/v1/health'].map(statusOf))).toEqual([200, 503, 503])
})
