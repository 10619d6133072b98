import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startMetrics } from '../../../src/operations/metrics/serve-metrics.ts'
import { queriesOf, readDashboard } from '../../docs/monitoring.ts'
import { startShop } from '../../support/running-shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('promtool accepts the names, types and help of all metrics', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const metrics = await startMetrics(shop.app, 0)
  onTestFinished(() => metrics.stop())
  // A request, so that each metric has a value.
  await shop.visitor().get('/me')
  const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
  expect(text).toContain('shopstead_http_request_duration_seconds_bucket{')
  expect(promtool(['check', 'metrics'], text)).toBe('')
})

test('promtool accepts the alert rules and tells when they fire', () => {
  expect(promtool(['check', 'rules', 'docs/monitoring/alerts.yml'])).toMatch(/SUCCESS: \d+ rules found/)
  expect(promtool(['test', 'rules', 'test/processes/operations/alerts.test.yml'])).toContain('SUCCESS')
})

test('promtool accepts every query of the dashboard', () => {
  const queries = queriesOf(readDashboard())
  const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }))
  // JSON is YAML.
  const file = join(temporaryFolder(), 'queries.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  expect(promtool(['check', 'rules', file])).toContain(`SUCCESS: ${queries.length} rules found`)
})

/** Runs promtool; returns what it printed. */
function promtool(args: readonly string[], input = ''): string {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  if (error !== undefined) throw new Error('promtool is missing. On Debian, run: apt-get install prometheus')
  const printed = `${stdout}${stderr}`
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} failed:\n${printed}`)
  return printed
}
