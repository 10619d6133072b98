/**
 * Writes src/platform/eu-vat-rates.json, the standard VAT rate of each member state of the EU, from the installed
 * sales-tax. Usage: npm run vat:generate
 */
import { writeFileSync } from 'node:fs'
import { euVatTable } from './vat-rates.ts'

writeFileSync('src/platform/eu-vat-rates.json', `${JSON.stringify(euVatTable(), null, 2)}\n`)
