import { describe, expect, it } from 'vitest'
import { languages, textsIn } from '../../../src/platform/texts/languages.ts'
import type { Text } from '../../../src/platform/texts/languages.ts'

const placeholders = (text: Text): string[] =>
  (typeof text === 'string' ? text : text.other).match(/\{\w+\}/g)?.toSorted() ?? []

describe('the texts of the storefront', () => {
  it('have the same keys and the same values in every language', () => {
    const shapeOf = (texts: Readonly<Record<string, Text>>): object =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, [typeof text, placeholders(text)]]))
    for (const texts of Object.values(languages)) expect(shapeOf(texts)).toEqual(shapeOf(languages.en))
  })

  it('follow the language tag, and are English for a language without texts', () => {
    expect(textsIn('de-AT').t('allProducts')).toBe('Alle Produkte')
    expect([textsIn('de-AT').lang, textsIn('DE').textLanguage]).toEqual(['de-AT', 'de'])
    for (const tag of ['es', 'es-MX', '', 'constructor'])
      expect([textsIn(tag).lang, textsIn(tag).t('allProducts')]).toEqual(['en', 'All products'])
  })

  it('put values in their places and choose between one and several', () => {
    const { t } = textsIn('en')
    expect([t('products', { count: 1 }), t('products', { count: 0 })]).toEqual(['1 product', '0 products'])
    const french = textsIn('fr-CA')
    expect([french.lang, french.t('products', { count: 0 }), french.t('products', { count: 2 })]).toEqual([
      'fr-CA',
      '0 produit',
      '2 produits'
    ])
    expect(t('found', { search: '{search} $&' })).toBe('Found for “{search} $&”')
  })
})
