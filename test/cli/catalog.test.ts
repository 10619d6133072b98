import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shopstead } from '../support/command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

const dataDir = join(folder, 'data')
const run = (...args: string[]) => shopstead(dataDir, [...args, '--json'])

function fileOf(content: unknown): string {
  const file = join(folder, 'catalog.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

beforeAll(() => run('init'))

test('offers are imported after a dry run, shown, hidden and exported', async () => {
  const file = fileOf({
    products: [{ slug: 'mug', name: 'Mug', price: '12.00' }],
    plans: [{ slug: 'club', name: 'Club', module: 'A' }]
  })
  const created = { products: 1, coupons: 0, plans: 1, campaigns: 0 }
  const none = { products: 0, coupons: 0, plans: 0, campaigns: 0 }
  const plan = await run('offers', 'import', file, '--dry-run')
  expect(plan).toMatchObject({ code: 0, json: { created, dryRun: true } })
  expect(await run('offers', 'list')).toMatchObject({ json: { offers: [] } })
  expect(await run('offers', 'import', file)).toMatchObject({ json: { created, updated: none, unchanged: none } })
  expect(await run('offers', 'import', file)).toMatchObject({ json: { created: none, unchanged: created } })
  expect(await run('offers', 'unpublish', 'mug')).toMatchObject({ json: { offer: { state: 'unpublished' } } })
  expect(await run('offers', 'show', '1')).toMatchObject({
    json: { offer: { productSlug: 'mug', state: 'unpublished' } }
  })
  expect(await run('offers', 'publish', 'mug')).toMatchObject({ json: { offer: { state: 'listed' } } })
  expect(await run('offers', 'export')).toMatchObject({
    json: { products: [{ slug: 'mug', price: 12 }], coupons: [] }
  })
})

test('a file with a mistake is refused whole, with its line and cause', async () => {
  const file = fileOf([
    { slug: 'good', name: 'Good', price: 1 },
    { slug: 'bad', name: 'Bad' }
  ])
  const refused = await run('offers', 'import', file)
  expect(refused).toMatchObject({
    code: 1,
    json: {
      error: {
        code: 'VALIDATION_FAILED',
        message: expect.stringContaining(`${file}: `),
        details: { errors: [{ line: 1, column: '1.price', cause: 'Is required.' }] }
      }
    }
  })
  expect(await run('offers', 'show', 'good')).toMatchObject({
    code: 1,
    json: { error: { code: 'NOT_FOUND' } }
  })
})

test('a table is imported from standard input by the columns that are named, and the report says what is missing', async () => {
  const input = 'Artikel;Preis;Bestand;Fach\nTeller;3,50 €;4;A1\nSchale;;;\n'
  const args = ['offers', 'import', '-', '--map', 'Artikel=name', '--map', 'Preis=price', '--map', 'Bestand=stock']
  const plan = await shopstead(dataDir, [...args, '--dry-run'], { input })
  expect(plan.code).toBe(0)
  expect(plan.stdout).toContain('Left out: 1 of Fach. This column is not supported')
  expect(plan.stdout).toMatch(/^Unpublished: one product\. The file has no price\..*: Schale$/m)
  expect(plan.stdout).toContain('Nothing was changed')
  await shopstead(dataDir, args, { input })
  const again = await shopstead(dataDir, args, { input: input.replace(';4;', ';9;') })
  expect(again.stdout).toContain('Pass --with-stock')
  expect(await run('offers', 'show', 'teller')).toMatchObject({ json: { offer: { stock: 4, price: { amount: 3.5 } } } })
  const set = await shopstead(dataDir, [...args, '--with-stock'], { input: input.replace(';4;', ';9;') })
  expect(set.stdout).toMatch(/^updated product teller\n {2}stock: .* → .*$/m)
  const dearer = input.replace('3,50', '4,25')
  expect((await shopstead(dataDir, [...args, '--dry-run'], { input: dearer })).stdout).toContain(
    'updated product teller\n  price: €3.50 → €4.25\n'
  )
  expect((await shopstead(dataDir, [...args, '--json'], { input: dearer })).json).toMatchObject({
    changes: [{ key: 'teller', outcome: 'updated', fields: [{ field: 'price', from: 3.5, to: 4.25 }] }]
  })
  expect(await run('offers', 'import', '-', '--map', 'Preis')).toMatchObject({ code: 2 })
})

test('coupons are made once, listed and disabled', async () => {
  const coupon = {
    code: 'Spring',
    percent: 12.5,
    maxUses: 5,
    exclusive: true,
    endsAt: '2027-01-02T00:00:00.000Z',
    used: 0,
    enabled: true
  }
  const create = [
    'coupons',
    'create',
    '--code',
    'Spring',
    '--percent',
    '12.5',
    '--max-uses',
    '5',
    '--exclusive',
    '--ends-at',
    '2027-01-01'
  ]
  expect(await run(...create)).toMatchObject({ code: 0, json: { coupon } })
  expect(await run(...create)).toMatchObject({ code: 1, json: { error: { code: 'CONFLICT' } } })
  expect(await run('coupons', 'disable', 'SPRING')).toMatchObject({ json: { coupon: { enabled: false } } })
  expect(await run('coupons', 'list')).toMatchObject({ json: { coupons: [{ ...coupon, enabled: false }] } })
})

test('the list tells which coupons count at the moment, and why others do not', async () => {
  const create = (code: string, ...options: string[]) =>
    run('coupons', 'create', '--code', code, '--percent', '5', ...options)
  await create('PAST', '--ends-at', '2020-01-01')
  await create('LATER', '--starts-at', '2999-01-01')
  await create('NOW', '--exclusive')
  const { stdout: list } = await shopstead(dataDir, ['coupons', 'list'])
  expect(list).toMatch(/^PAST .* expired$/m)
  expect(list).toMatch(/^LATER .* not yet$/m)
  expect(list).toMatch(/^NOW +5 %, exclusive .* on$/m)
})

test.each([
  [2, 'USAGE', ['--percent', '5', '--amount', '5']],
  [2, 'USAGE', []],
  [1, 'VALIDATION_FAILED', ['--amount', '5', '--ends-at', 'soon']],
  [1, 'VALIDATION_FAILED', ['--amount', '5', '--product', 'nothing']]
])('exit %i and %s for a coupon with %j', async (exitCode, error, options) => {
  const refused = await run('coupons', 'create', '--code', 'X', ...options)
  expect(refused).toMatchObject({ code: exitCode, json: { error: { code: error } } })
})

test('creating a coupon warns of the products that it brings below the minimum charge', async () => {
  const products = [
    { slug: 'sticker', name: 'Sticker', price: '1.00' },
    { slug: 'poster', name: 'Poster', price: '20.00' }
  ]
  await run('offers', 'import', fileOf({ products }))
  const create = (...options: string[]) => shopstead(dataDir, ['coupons', 'create', ...options])
  const cheap = await create('--code', 'CHEAP', '--percent', '80')
  expect(cheap.stdout).toContain('with this coupon, sticker cost less than €0.50, the minimum')
  expect((await create('--code', 'FREE', '--percent', '100')).stdout).not.toContain('Warning')
  expect((await create('--code', 'POSTER', '--percent', '80', '--product', 'poster')).stdout).not.toContain('Warning')
})

test('pictures are imported, listed, added, put in order and removed, and the failed ones are tried again', async () => {
  const picture = await sharp({ create: { width: 20, height: 10, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  writeFileSync(join(folder, 'red.png'), picture)
  const images = [{ src: 'red.png', alt: 'Red' }, { src: 'later.png' }]
  const file = fileOf([{ slug: 'pictured', name: 'Pictured', price: 1, images }])
  expect(await run('offers', 'import', file, '--dry-run')).toMatchObject({
    json: { images: { stored: 0, failed: [] } }
  })
  const imported = await run('offers', 'import', file)
  expect(imported).toMatchObject({
    code: 0,
    json: {
      images: {
        stored: 1,
        failed: [{ slug: 'pictured', src: 'later.png', problem: 'The file cannot be read (ENOENT).' }]
      }
    }
  })
  writeFileSync(join(folder, 'later.png'), picture)
  expect(await run('offers', 'images', 'retry')).toMatchObject({ code: 0, json: { images: [], stored: 1 } })
  const added = await run('offers', 'images', 'add', 'pictured', join(folder, 'red.png'), '--alt', 'Again')
  expect(added).toMatchObject({
    code: 0,
    json: { images: [{ alt: 'Red' }, { alt: '' }, { alt: 'Again', sku: null, image: { width: 20 } }] }
  })
  const ids = (added.json as { images: { id: number }[] }).images.map(({ id }) => String(id))
  const [first = '', , third = ''] = ids
  expect(await run('offers', 'images', 'order', 'pictured', third)).toMatchObject({
    json: { images: [{ alt: 'Again' }, { alt: 'Red' }, {}] }
  })
  expect(await run('offers', 'images', 'remove', 'pictured', first, '--yes')).toMatchObject({
    json: { images: [{ alt: 'Again' }, { alt: '' }] }
  })
  expect(await run('offers', 'images', 'remove', 'pictured', first, '--yes')).toMatchObject({
    code: 1,
    json: { error: { code: 'VALIDATION_FAILED' } }
  })
  expect(await run('offers', 'images', 'remove', 'pictured', 'x')).toMatchObject({ code: 2 })
  const loopback = await run('offers', 'images', 'add', 'pictured', 'http://127.0.0.1/x.png')
  expect(loopback).toMatchObject({ code: 1, json: { error: { message: expect.stringContaining('--allow-private') } } })
  expect(await run('offers', 'images', 'list', 'pictured')).toMatchObject({ json: { images: [{}, {}] } })
})

test('shipping zones are set, listed, removed, exported and imported', async () => {
  const parcel = { id: 'parcel', name: 'Parcel', amount: 4.9, freeFrom: 50 }
  const rest = { perKg: null, maxWeightGrams: null, estimate: null }
  const germany = { zone: 'Germany', countries: ['AT', 'DE'], methods: [{ ...parcel, ...rest }] }
  const setParcel = ['--method', 'parcel', '--name', 'Parcel', '--amount', '4.90', '--free-from', '50']
  expect(await run('shipping', 'set', 'Germany', '--countries', 'de, AT', ...setParcel)).toMatchObject({
    code: 0,
    json: { zone: germany }
  })
  const heavy = { id: 'heavy', name: 'Heavy', amount: 9, ...rest, perKg: 1.5, maxWeightGrams: 30_000, freeFrom: null }
  const setHeavy = [
    '--method',
    'heavy',
    '--name',
    'Heavy',
    '--amount',
    '9',
    '--per-kg',
    '1.50',
    '--max-weight',
    '30000'
  ]
  await run('shipping', 'set', 'Germany', ...setHeavy)
  await run('shipping', 'set', 'Germany', '--method', 'parcel', '--free-from', 'none', '--estimate', '2–3 days')
  const methods = [{ ...parcel, ...rest, freeFrom: null, estimate: '2–3 days' }, heavy]
  const setPickup = ['--method', 'pickup', '--name', 'Pick up', '--amount', '0', '--pickup']
  const picked = await run('shipping', 'set', 'Germany', ...setPickup)
  const pickup = { id: 'pickup', name: 'Pick up', amount: 0, freeFrom: null, ...rest, pickup: true }
  expect(picked).toMatchObject({ json: { zone: { methods: [{ pickup: false }, { pickup: false }, pickup] } } })
  const shipping = [{ ...germany, methods: [...methods, pickup] }]
  expect(await run('shipping', 'list')).toMatchObject({ json: { zones: shipping } })
  expect(await run('offers', 'export')).toMatchObject({ json: { shipping } })
  const file = fileOf({ shipping })
  expect(await run('offers', 'import', file)).toMatchObject({ json: { unchanged: { shipping: 1 } } })

  expect(await run('shipping', 'remove', 'Germany', '--method', 'heavy')).toMatchObject({ code: 2 })
  expect(await run('shipping', 'remove', 'Germany', '--method', 'nope', '--yes')).toMatchObject({ code: 1 })
  expect(await run('shipping', 'remove', 'Germany', '--method', 'heavy', '--yes')).toMatchObject({
    json: { zone: { methods: [{ id: 'parcel' }, { id: 'pickup' }] } }
  })
  expect(await run('shipping', 'remove', 'Germany', '--yes')).toMatchObject({ code: 0, json: { zone: null } })
  expect(await run('shipping', 'list')).toMatchObject({ json: { zones: [] } })
  expect(await run('offers', 'import', file)).toMatchObject({ json: { created: { shipping: 1 } } })
})

test('a shipping zone with mistakes is refused with each of them', async () => {
  const fieldErrors = async (...args: string[]) => {
    const { code, json } = await run('shipping', 'set', ...args)
    return [code, Object.keys((json as { error: { details: { fieldErrors: object } } }).error.details.fieldErrors)]
  }
  expect(await fieldErrors('Nowhere')).toEqual([1, ['countries', 'methods']])
  expect(await fieldErrors('Nowhere', '--countries', 'XX', '--method', 'a b', '--amount', '-1')).toEqual([
    1,
    ['countries.0', 'methods.0.id', 'methods.0.name', 'methods.0.amount']
  ])
  expect(await run('shipping', 'set', 'Nowhere', '--countries', 'FR', '--amount', '1')).toMatchObject({ code: 2 })
})

test('an import lists 40 of the pictures that failed, and says how many there are', async () => {
  const images = Array.from({ length: 42 }, (_, index) => ({ src: `missing-${index}.png` }))
  const file = fileOf([{ slug: 'blurred', name: 'Blurred', price: 1, images }])
  const lines = (await shopstead(dataDir, ['offers', 'import', file])).stdout.split('\n')
  expect(lines.filter((line) => line.startsWith('No picture for blurred'))).toHaveLength(40)
  expect(lines).toContain('and 2 more: --json lists all of them.')
})
