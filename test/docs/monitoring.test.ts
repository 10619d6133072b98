import { globSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startMetrics } from '../../src/operations/metrics/serve-metrics.ts'
import { startShop } from '../support/running-shop.ts'
import { idleProgram, refusalOf } from './commands.ts'
import { queriesOf, readDashboard } from './monitoring.ts'
import { pages } from './pages.ts'

const operating = pages.find(({ file }) => file === 'docs/operating.md')?.text ?? ''
const alerts = readFileSync('docs/monitoring/alerts.yml', 'utf8')

test('every metric that an alert, the dashboard or docs/operating.md uses is exposed, and the dashboard shows all of the shop', async () => {
  const shop = await startShop({ seed: null })
  onTestFinished(() => shop.stop())
  const metrics = await startMetrics(shop.app, 0)
  onTestFinished(() => metrics.stop())
  const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  const queries = queriesOf(readDashboard()).join('\n')
  expect(namesIn(alerts).length).toBeGreaterThan(10)
  expect(namesIn(queries).length).toBeGreaterThan(20)
  const section = /\*\*Metrics\.\*\*([^]*?)\n\*\*/.exec(operating)?.[1] ?? ''
  expect(namesIn(section).length).toBeGreaterThan(3)
  const used = new Set([alerts, queries, section].flatMap(namesIn))
  expect([...used].filter((name) => !exposed.has(name))).toEqual([])
  const unused = [...exposed].filter((name) => name.startsWith('shopstead_') && !namesIn(queries).includes(name))
  expect(unused).toEqual([])
})

test('every command that an alert names exists', async () => {
  const program = await idleProgram()
  const commands = [...alerts.matchAll(/"shop ([^"]+)"/g)].map(([, words = '']) => words.split(' '))
  expect(commands.length).toBeGreaterThan(8)
  expect(commands.map((words) => refusalOf(program, words)).filter((problem) => problem !== undefined)).toEqual([])
})

test('the dashboard has a title, a unit and a query in each panel, and no two panels overlap', () => {
  const { panels } = readDashboard()
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`)
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
})

test('the files of docs/monitoring are the ones that docs/operating.md names', () => {
  const files = globSync('docs/monitoring/*').map((file) => file.slice('docs/'.length))
  expect(files.toSorted()).toEqual(['monitoring/alerts.yml', 'monitoring/dashboard.json'])
  expect(files.filter((file) => !operating.includes(file))).toEqual([])
})

/** The metrics in a text, without the suffixes of a histogram. */
function namesIn(text: string): string[] {
  const found = [...text.matchAll(/\b(?:shopstead|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
  return found.map((name) => name.replace(/_(?:bucket|count|sum)$/, ''))
}
