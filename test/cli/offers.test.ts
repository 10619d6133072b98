import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shopstead-offers-'))
afterAll(() => rmSync(dataDir, { recursive: true }))

const run = <Json = Record<string, unknown>>(...args: string[]) =>
  shopstead<Json>(dataDir, ['offers', ...args, '--json'])

const catalogue = {
  products: [
    { slug: 'mug', name: 'Enamel mug', price: '12.00', salePrice: '9.60', stock: 20, categories: ['Kitchen > Cups'] },
    { slug: 'bowl', name: 'Soup bowl', price: '8.00', categories: ['Kitchen'], published: false },
    {
      slug: 'shirt',
      name: 'Shirt',
      price: '20.00',
      variations: [
        { sku: 'SHIRT-S', name: 'S', price: '20.00', stock: 3 },
        { sku: 'SHIRT-M', name: 'M', price: '22.00', stock: 0 }
      ]
    },
    { slug: 'lamp', name: 'Lamp', price: '40.00' }
  ]
}

beforeAll(async () => {
  createMigratedDatabase(join(dataDir, 'shopstead.db'))
  const file = join(dataDir, 'catalogue.json')
  writeFileSync(file, JSON.stringify(catalogue))
  await run('import', file)
})

describe('shopstead offers list', () => {
  type List = { offers: { productSlug: string }[]; nextCursor: string | null }
  const slugs = async (...args: string[]) => {
    const { json } = await run<List>('list', ...args)
    return json.offers.map(({ productSlug }) => productSlug)
  }

  it('shows names, and the stock of all variations together', async () => {
    const { stdout } = await shopstead(dataDir, ['offers', 'list'])
    expect(stdout.split('\n')).toEqual([
      'Id  Slug   Name        Price                    Stock  State',
      '1   mug    Enamel mug  €9.60 instead of €12.00  20     on sale',
      '2   bowl   Soup bowl   €8.00                    -      hidden',
      '3   shirt  Shirt       €20.00                   3      on sale',
      '4   lamp   Lamp        €40.00                   -      on sale',
      ''
    ])
  })

  it('finds products by a part of their name, slug or SKU, also hidden ones', async () => {
    expect(await slugs('--search', 'BOW')).toEqual(['bowl'])
    expect(await slugs('--search', 'shirt-m')).toEqual(['shirt'])
    expect(await slugs('--search', 'nothing')).toEqual([])
    expect(await slugs('--category', 'kitchen')).toEqual(['mug', 'bowl'])
    expect(await slugs('--category', 'Kitchen', '--search', 'mug')).toEqual(['mug'])
    expect(await run('list', '--category', 'nowhere')).toMatchObject({
      code: 1,
      json: { error: { code: 'NOT_FOUND' } }
    })
  })

  it('pages with a cursor until the last page has none', async () => {
    const first = await run<List>('list', '--limit', '3')
    expect(first.json).toMatchObject({ offers: [{}, {}, {}], nextCursor: expect.any(String) })
    const cursor = first.json.nextCursor ?? ''
    const second = await run('list', '--limit', '3', '--cursor', cursor)
    expect(second.json).toMatchObject({ offers: [{ productSlug: 'lamp' }], nextCursor: null })
    expect((await run<List>('list', '--limit', '4')).json.nextCursor).toBeNull()
    expect((await shopstead(dataDir, ['offers', 'list', '--limit', '3'])).stdout).toContain(`--cursor ${cursor}`)
    const refused = await run('list', '--cursor', 'x')
    expect(refused.json).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fieldErrors: { cursor: [expect.any(String)] } } }
    })
  })
})
