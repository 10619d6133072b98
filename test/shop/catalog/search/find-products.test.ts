import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Db } from '../../../../src/platform/db/database.ts'
import { write } from '../../../../src/platform/db/database.ts'
import { setPublished } from '../../../../src/shop/catalog/products.ts'
import { findProducts } from '../../../../src/shop/catalog/search/find-products.ts'
import type { ProductQuery } from '../../../../src/shop/catalog/search/find-products.ts'
import { returnStock, takeStock } from '../../../../src/shop/catalog/stock.ts'
import { noon } from '../../../support/temporary-shop.ts'
import { apply, shopWith } from '../support.ts'

function slugs(db: Db, query: Partial<ProductQuery>, now = noon): string[] {
  const { ids } = findProducts(db, { page: 1, perPage: 100, ...query }, now)
  return ids.map((id) => String(db.sqlite.prepare('SELECT slug FROM products WHERE id = ?').pluck().get(id)))
}

const mug = { slug: 'mug', name: 'Mug', price: 12 }

it('finds a word in name, tags, categories, SKUs and description, and lists a product in the name first', () => {
  const db = shopWith([
    { ...mug, slug: 'description', description: 'Made of brass.' },
    { ...mug, slug: 'sku', variations: [{ sku: 'BRASS-1', name: 'Small', price: 1 }] },
    { ...mug, slug: 'category', categories: ['Brassware'] },
    { ...mug, slug: 'tag', tags: ['polished brass'] },
    { ...mug, slug: 'name', name: 'Brass mug' },
    { ...mug, slug: 'other' }
  ])
  expect(slugs(db, { text: 'brass' })).toEqual(['name', 'sku', 'category', 'tag', 'description'])
  expect(slugs(db, { text: 'brass', sort: 'position' })).toEqual(['description', 'sku', 'category', 'tag', 'name'])
  expect(slugs(db, { text: 'brass', literal: true })).toEqual(['description', 'tag', 'name'])
  expect(slugs(db, { text: 'brass polished' })).toEqual(['tag'])
  expect(slugs(db, { text: 'brass mug' })).toEqual(['name', 'sku', 'category', 'tag', 'description'])
})

it('pages through the results of all ranks without gaps and repeats', () => {
  const products = Array.from({ length: 30 }, (_, index) => ({
    ...mug,
    slug: `p${index}`,
    ...[{ name: 'Brass' }, { tags: ['brass'] }, { categories: ['Brass'] }, { description: 'brass' }][index % 4]
  }))
  const db = shopWith(products)
  const all = slugs(db, { text: 'brass' })
  expect(new Set(all).size).toBe(30)
  for (const perPage of [1, 3, 7, 8, 29]) {
    const pages = Array.from({ length: Math.ceil(30 / perPage) + 1 }, (_, index) =>
      slugs(db, { text: 'brass', page: index + 1, perPage })
    )
    expect(pages.flat()).toEqual(all)
  }
})

it.each([
  ['Straße', ['straße', 'strasse', 'STRASSE', 'stra']],
  ['Strasse', ['straße', 'strasse']],
  ['Müller', ['müller', 'mueller', 'muller', 'MÜLLER']],
  ['Mueller', ['müller', 'mueller']],
  ['Grüße', ['grüße', 'gruesse', 'grüsse', 'grusse', 'gruße']],
  ['Crème brûlée', ['creme', 'crème', 'brulee']],
  ['Smørrebrød', ['smørrebrød', 'smorrebrod', 'smoerrebroed']],
  ['Großpackung', ['packung', 'grosspackung', 'großpackung', 'gross']],
  ['Großpackungen', ['packung', 'packungen', 'grosspackung']],
  ['Tealight', ['light', 'tealight']]
])('finds %s by %s', (name, texts) => {
  const db = shopWith([
    { ...mug, slug: 'found', name },
    { ...mug, slug: 'other' }
  ])
  for (const text of texts) expect([text, slugs(db, { text })]).toEqual([text, ['found']])
})

it('takes no part of a word for a compound that is too short, or not at its end', () => {
  const db = shopWith([
    { ...mug, slug: 'lantern', name: 'Lantern' },
    { ...mug, slug: 'pack', name: 'Packungsgröße' }
  ])
  for (const text of ['ern', 'ungsgr', 'antern']) expect([text, slugs(db, { text, literal: true })]).toEqual([text, []])
  expect(slugs(db, { text: 'ern' })).toEqual([])
  expect(slugs(db, { text: 'ungsg' })).toEqual([])
})

const misspelled: [text: string, found: string[]][] = [
  ['lanterm', ['lantern']],
  ['lantren', ['lantern']],
  ['lanternn', ['lantern']],
  ['lanern', ['lantern']],
  ['antern', ['lantern']],
  ['xantern', ['lantern']],
  ['alntern', ['lantern']],
  ['LANTREN', ['lantern']],
  ['lantrn oil', ['lantern']],
  ['lantrn ool', []],
  ['lanxr', []],
  ['creem brulee', ['creme']],
  ['cremme brulee', ['creme']],
  ['brulze', ['creme']],
  ['stoneare', ['creme']],
  ['stone', ['creme']],
  ['lamq', []],
  ['10101', []],
  ['водк', ['vodka']],
  ['водкаа', ['vodka']],
  ['вотка', ['vodka']],
  ['lantren%', []],
  ['" AND OR NOT lantren*', []],
  ['lantren*', ['lantern']],
  ['name:lantren', []]
]

it('forgives one typing mistake in each word of five letters or more', () => {
  const db = shopWith([
    { ...mug, slug: 'lantern', name: 'Storm lantern', description: 'Burns oil.' },
    { ...mug, slug: 'creme', name: 'Crème brûlée dish', description: 'Stoneware 10100' },
    { ...mug, slug: 'vodka', name: 'Водка' },
    { ...mug, slug: 'lamps', name: 'Hidden lanterm', published: false }
  ])
  for (const [text, found] of misspelled) expect([text, slugs(db, { text })]).toEqual([text, found])
  for (const [text] of misspelled) {
    if (text !== 'stone' && text !== 'водк') expect([text, slugs(db, { text, literal: true })]).toEqual([text, []])
  }
})

/** Whether a word becomes the beginning of another by at most one typing mistake. */
function isMisspelled(word: string, other: string): boolean {
  const letters = ['a', 'b', 'c', 'd', 'e', 'f']
  const places = Array.from({ length: word.length + 1 }, (_, at) => [word.slice(0, at), word.slice(at)] as const)
  const corrected = places.flatMap(([before, after]) => [
    before + after,
    before + after.slice(1),
    before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2),
    ...letters.flatMap((letter) => [before + letter + after, before + letter + after.slice(1)])
  ])
  return corrected.some((text) => other.startsWith(text))
}

/** Of the endings that a search forgives, the letters of this test make only one. */
const isLastPart = (text: string, name: string): boolean =>
  text.length >= 4 && [text, `${text}e`].some((part) => name.endsWith(part) && name.length >= part.length + 3)

it('finds every word that is one typing mistake away, and no other', () => {
  const letter = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const word = fc.string({ unit: letter, minLength: 5, maxLength: 8 })
  const mistake = fc.record({ of: fc.nat(29), at: fc.nat(6), cut: fc.nat(2), add: fc.array(letter, { maxLength: 2 }) })
  const names = fc.uniqueArray(word, { minLength: 30, maxLength: 30 })
  fc.assert(
    fc.property(names, fc.array(mistake, { minLength: 40 }), (names, mistakes) => {
      const db = shopWith(names.map((name) => ({ ...mug, slug: name, name })))
      for (const { of, at, cut, add } of mistakes) {
        const name = names[of] ?? ''
        const text = name.slice(0, at) + add.join('') + name.slice(at + cut)
        const exact = names.filter((name) => name.startsWith(text) || isLastPart(text, name))
        const forgiven = text.length < 5 ? [] : names.filter((name) => isMisspelled(text, name))
        const expected = exact.length > 0 ? exact : forgiven
        if (text !== '') expect([text, slugs(db, { text })]).toEqual([text, expected])
      }
    }),
    { numRuns: 3 }
  )
})

it('does not correct a word that products have', () => {
  const db = shopWith([
    { ...mug, slug: 'line', name: 'Liner' },
    { ...mug, slug: 'linen', name: 'Linen' }
  ])
  expect(slugs(db, { text: 'linen' })).toEqual(['linen'])
})

it('orders by position with sold-out products last, by age, price and name', () => {
  const db = shopWith([
    { ...mug, slug: 'b', name: 'Éclair', price: 9, position: 3 },
    { ...mug, slug: 'a', name: 'apple', price: 30, salePrice: 5, saleEnd: '2026-06-01T13:00Z', position: 4 },
    { ...mug, slug: 'd', name: 'Fork', price: 7, stock: 0, position: 1 },
    {
      ...mug,
      slug: 'c',
      name: 'Zither',
      position: 2,
      variations: [
        { sku: 'S', name: 'Small', price: 3, stock: 0 },
        { sku: 'L', name: 'Large', price: 8, stock: 1 }
      ]
    }
  ])
  expect(slugs(db, {})).toEqual(['c', 'b', 'a', 'd'])
  expect(slugs(db, { availableOnly: true })).toEqual(['c', 'b', 'a'])
  expect(slugs(db, { sort: 'newest' })).toEqual(['c', 'd', 'a', 'b'])
  expect(slugs(db, { sort: 'name' })).toEqual(['a', 'b', 'd', 'c'])
  expect(slugs(db, { sort: 'price' })).toEqual(['a', 'd', 'c', 'b'])
  expect(slugs(db, { sort: '-price' })).toEqual(['b', 'c', 'd', 'a'])
  expect(slugs(db, { sort: 'price' }, noon + 3_600_000)).toEqual(['d', 'c', 'b', 'a'])
  expect(slugs(db, { sort: 'price', page: 2, perPage: 3 })).toEqual(['b'])
})

it('follows each change of stock, publication and import', () => {
  const one = { ...mug, slug: 'one', stock: 2 }
  const two = {
    ...mug,
    slug: 'two',
    stock: 1,
    variations: [
      { sku: 'S', name: 'Small', price: 3, stock: 2 },
      { sku: 'L', name: 'Large', price: 8 }
    ]
  }
  const db = shopWith([one, two])
  const available = () => slugs(db, { availableOnly: true })
  const move = (change: typeof returnStock, productId: number, variationId: number | null, quantity: number) =>
    write(db, (tx) => {
      change(tx, { productId, variationId }, quantity)
    })
  move(takeStock, 1, null, 2)
  expect([available(), slugs(db, {})]).toEqual([['two'], ['two', 'one']])
  move(takeStock, 2, 1, 2)
  expect(available()).toEqual(['two'])
  move(takeStock, 2, 2, 1)
  expect(available()).toEqual([])
  move(returnStock, 1, null, 1)
  move(returnStock, 2, 1, 2)
  expect(available()).toEqual(['one', 'two'])
  setPublished(db, 'one', false, noon)
  expect(slugs(db, {})).toEqual(['two'])
  setPublished(db, 'one', true, noon)
  apply(db, [{ ...one, position: 9, name: 'Kettle', categories: ['Kitchen'] }])
  expect([slugs(db, {}), slugs(db, { text: 'mug' }), slugs(db, { category: 'kitchen' })]).toEqual([
    ['two', 'one'],
    ['two'],
    ['one']
  ])
})

/** The same search without an index. */
function reference(
  products: readonly { slug: string; name: string; description: string; tags: string[] }[],
  text: string
) {
  const pieces = text.split(' ').filter((piece) => piece !== '')
  if (pieces.length === 0) return []
  const contains = (texts: string[]): boolean =>
    pieces.every((piece) =>
      /[%_]/.test(piece)
        ? texts.some((value) =>
            value
              .toLowerCase()
              .split(' ')
              .some((word) => word.includes(piece.toLowerCase()))
          )
        : texts.some((value) =>
            value
              .toLowerCase()
              .split(/[ %_]/)
              .some((word) => word.startsWith(piece.toLowerCase()))
          )
    )
  return products
    .filter(({ name, description, tags }) => contains([name, description, ...tags]))
    .map(({ slug }) => slug)
}

it('finds the same products as a search through all texts', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', 'B', '%', '_'), minLength: 1, maxLength: 4 })
  const words = fc.array(word, { maxLength: 3 }).map((list) => list.join(' '))
  const product = fc.record({
    name: words.map((text) => `n ${text}`),
    description: words,
    tags: fc.uniqueArray(word, { maxLength: 2 })
  })
  fc.assert(
    fc.property(
      fc.array(product, { minLength: 1, maxLength: 6 }),
      fc.array(words, { minLength: 5, maxLength: 5 }),
      (drafts, texts) => {
        const products = drafts.map((draft, index) => ({ ...mug, slug: `p${index}`, ...draft }))
        const db = shopWith(products)
        for (const text of texts)
          expect([text, slugs(db, { text, literal: true })]).toEqual([text, reference(products, text)])
      }
    ),
    { numRuns: 15 }
  )
})

it('answers hostile texts and finds nothing by them', () => {
  const db = shopWith([{ ...mug, description: 'A lantern.' }])
  const hostile = [
    '"',
    "'",
    '*',
    '^',
    ':',
    '(',
    ')',
    '{name}',
    '- name',
    '+',
    ',',
    '\u0000',
    '\uD800',
    '\u{10FFFF}',
    'NEAR(',
    'AND',
    'keys:listed',
    'keys : "p1"',
    '"listed"',
    'p1',
    '25',
    '🏮'.repeat(50),
    'x'.repeat(100),
    '茶'.repeat(100),
    'a_'.repeat(50),
    '%'.repeat(100)
  ]
  for (const text of hostile) expect([text, slugs(db, { text })]).toEqual([text, []])
})
