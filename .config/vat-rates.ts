import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EuVatTable } from '../src/platform/vat.ts'

const folder = dirname(fileURLToPath(import.meta.resolve('sales-tax/package.json')))

function read<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(folder, ...path), 'utf8')) as T
}

/** The day of a release, from the package's changelog: `## 2.23.0 (2026-05-19)`. */
function releaseDay(version: string): string {
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  const [, day] =
    new RegExp(`^## ${version.replaceAll('.', '\\.')} \\((\\d{4}-\\d{2}-\\d{2})\\)`, 'm').exec(changelog) ?? []
  if (day === undefined) throw new Error(`The changelog of sales-tax does not date version ${version}.`)
  return day
}

/** The content of src/platform/eu-vat-rates.json, from the installed sales-tax. */
export function euVatTable(): EuVatTable {
  const { version } = read<{ version: string }>('package.json')
  const { EU: members } = read<{ EU: string[] }>('res', 'region_countries.json')
  const rates = read<Record<string, { rate: number }>>('res', 'sales_tax_rates.json')
  const standard = members.toSorted().map((country) => {
    const rate = rates[country]?.rate
    if (rate === undefined) throw new Error(`sales-tax has no rate for ${country}.`)
    return [country, Math.round(rate * 10_000) / 100] as const
  })
  return { source: `sales-tax ${version}`, releasedOn: releaseDay(version), standard: Object.fromEntries(standard) }
}
