import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toCii } from '../../../src/shop/invoices/cii.ts'
import { documentFile } from '../../../src/shop/invoices/e-invoice-file.ts'
import { toEInvoice } from '../../../src/shop/invoices/e-invoice.ts'
import { makeGerman, sell } from '../../shop/invoices/cases.ts'
import { openTestShop } from '../../support/shop-context.ts'

it('other programs read the PDF of an electronic invoice, and find the data in it', async () => {
  using shop = openTestShop()
  makeGerman(shop.db)
  const lamp = { unitPriceMinor: 1250, totalMinor: 2500, quantity: 2, name: 'Lamp "Größe"' }
  const [row] = sell(shop.db, [lamp], { to: 'DE', shippingMinor: 490 }, shop.clock.now())
  if (row === undefined) throw new Error('there is no invoice')
  const file = join(shop.dataDir, 'invoice.pdf')
  writeFileSync(file, (await documentFile(row, 'facturx', { pageUrl: 'https://shop.example/x' })).content)
  expect(execFileSync('qpdf', ['--check', file], { encoding: 'utf8' })).toContain('No syntax or stream encoding errors')
  const found = execFileSync('qpdf', ['--show-attachment=factur-x.xml', file], { encoding: 'utf8' })
  expect(found).toBe(toCii(toEInvoice(row)))
})
