import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { wordsOf } from '../../../src/shop/settings/language.ts'
import { readOwnTexts, requireOwnTexts, textFolder } from '../../../src/shop/settings/own-texts.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { openTestShop } from '../../support/shop-context.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A data folder with texts of the operator. */
function folderWith(files: Record<string, string>): string {
  const dataDir = temporaryFolder()
  mkdirSync(textFolder(dataDir))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(textFolder(dataDir), name), content)
  return dataDir
}

const problemsOf = (content: unknown): string[] =>
  readOwnTexts(folderWith({ 'de.json': JSON.stringify(content) })).problems.map(({ problem }) => problem)

it('texts of the operator replace those of their language', () => {
  using shop = openTestShop()
  mkdirSync(textFolder(shop.dataDir))
  const own = { addToCart: 'In den Korb', products: { one: 'ein Ding', other: '{count} Dinge' } }
  writeFileSync(join(textFolder(shop.dataDir), 'de.json'), JSON.stringify(own))
  requireOwnTexts(shop.dataDir)
  setSetting(shop.db, 'storefront.language', 'de', 0)
  const { t } = wordsOf(shop)
  expect([t('addToCart'), t('products', { count: 1 }), t('products', { count: 3 }), t('quantity')]).toEqual([
    'In den Korb',
    'ein Ding',
    '3 Dinge',
    'Anzahl'
  ])
  expect(wordsOf({ ...shop, language: 'en' }).t('addToCart')).toBe('Add to cart')
})

it.each([
  ['an unknown key', { nothing: 'x' }, '"nothing" is not the key of a text'],
  ['a placeholder that the text does not have', { found: '{word}' }, '"found" has the unknown placeholder {word}'],
  ['a placeholder that is not closed', { found: '{search' }, '"found" has a placeholder that is not closed'],
  ['a number', { found: 7 }, '"found" must be a text'],
  ['an empty text', { found: ' ' }, '"found" is empty'],
  ['one text for a text with two', { products: 'Dinge' }, '"products" must have the texts one and other'],
  ['a list', ['x'], 'is not a JSON object of texts by key']
])('%s is not used, and named', (_name, content, problem) => {
  expect(problemsOf(content)).toEqual([problem])
})

it('a file of no language and one that is not JSON keep the server from starting, with their names', () => {
  const dataDir = folderWith({ 'xx.json': '{}', 'en.json': '{' })
  expect(() => requireOwnTexts(dataDir)).toThrow(
    /en\.json is not valid JSON; xx\.json is not one of en\.json, de\.json, fr\.json/
  )
  expect(() => requireOwnTexts(temporaryFolder())).not.toThrow()
})
