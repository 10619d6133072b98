import { readFileSync } from 'node:fs'
import { z } from 'zod'

const gridPos = z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() })
const common = { id: z.int(), title: z.string().min(1), gridPos }

/** What the tests read of docs/monitoring/dashboard.json, in the format of Grafana. */
const dashboard = z.object({
  title: z.literal('Shopstead'),
  panels: z.array(
    z.discriminatedUnion('type', [
      z.object({ ...common, type: z.literal('row') }),
      z.object({
        ...common,
        type: z.enum(['stat', 'timeseries']),
        fieldConfig: z.object({ defaults: z.object({ unit: z.string().min(1) }) }),
        targets: z.array(z.object({ refId: z.string(), expr: z.string().min(1), legendFormat: z.string() })).min(1)
      })
    ])
  )
})

/** The dashboard of docs/monitoring. */
export function readDashboard(): z.output<typeof dashboard> {
  return dashboard.parse(JSON.parse(readFileSync('docs/monitoring/dashboard.json', 'utf8')))
}

/** Every query of a dashboard. */
export function queriesOf({ panels }: z.output<typeof dashboard>): string[] {
  return panels.flatMap((panel) => (panel.type === 'row' ? [] : panel.targets.map(({ expr }) => expr)))
}
