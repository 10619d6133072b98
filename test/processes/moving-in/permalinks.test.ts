import { expect, test } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/platform/config/config.ts'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { slugFor } from '../../../src/shop/catalog/import/slug.ts'
import { productBySlug } from '../../../src/shop/catalog/stored-product.ts'
import { findRedirect } from '../../../src/shop/redirects/redirects.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { dumpOf, expectedOf } from './old-shop.ts'

type Report = { subjects: { subject: string; arrived: number; leftOut: { why: string; count: number }[] }[] }

test.each(['a1', 'a2'] as const)('each address of %s leads to what it showed, or is listed', async (name) => {
  await using source = await loadDump(dumpOf(name))
  const dataDir = temporaryFolder()
  await shopstead(dataDir, ['init'])
  const run = async () =>
    (await shopstead<Report>(dataDir, ['import', 'wordpress', source.url, '--json'])).json.subjects
  const first = (await run()).find(({ subject }) => subject === 'addresses')
  const again = (await run()).find(({ subject }) => subject === 'addresses')
  expect(again?.arrived).toBe(0)
  const env = { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', SHOPSTEAD_DATA_DIR: dataDir }
  const app = createApp(parseConfig(env), { database: 'migrated' })
  const { permalinks, products } = expectedOf(name)
  const hidden = new Set(products.filter(({ type }) => ['grouped', 'external'].includes(type)).map(({ id }) => id))
  const lost: string[] = []
  for (const { path, kind, id, slug } of permalinks) {
    const to = findRedirect(app, path)
    if (kind === 'page' || kind === 'post') continue
    if (kind === 'product' || kind === 'old product slug' || kind === 'product by number') {
      if (hidden.has(id)) continue
      const row = productBySlug(app.db, slugFor(slug))
      if (row === undefined || to !== `/products/${row.slug}`) lost.push(`${kind} ${path}: ${to}`)
    } else if (kind === 'variation' ? !to?.startsWith('/products/') : !/^\/(\?(category|search)=|$)/.test(to ?? ''))
      lost.push(`${kind} ${path}: ${to}`)
  }
  app.close()
  expect(lost).toEqual([])
  expect(first?.leftOut).toEqual([expect.objectContaining({ why: expect.stringContaining('redirects add') })])
})
