import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSearch } from '../../../../src/shop/catalog/search/parse-search.ts'

function words(search: string): string[] {
  return parseSearch(search).words
}

function signs(search: string): string[] {
  return parseSearch(search).signs.map((token) => Buffer.from(token, 'hex').toString())
}

test.each([
  ['mug', ['mug']],
  ['s '.repeat(50), ['s']],
  ['Mug MUG mu m', ['MUG']],
  ['créme Creme crème brûlée', ['brûlée', 'crème']],
  ['oil oilskin', ['oilskin']],
  ['ΑΘΗΝΑ αθηνα', ['αθηνα']],
  // FTS5 treats these as different words.
  ['и й', ['й', 'и']],
  ['가 각', ['각', '가']],
  ['vitamin c', ['vitamin', 'c']],
  ['one two three a', ['three', 'one', 'two']],
  ['a b c d e', ['a', 'b', 'c']],
  ['by the sea of ice in ma ny', ['the', 'sea', 'ice']]
])('a search for %j looks for the words %j', (search, expected) => {
  expect(words(search).toSorted()).toEqual(expected.toSorted())
})

test('a long search text uses its eight longest words', () => {
  const text = 'one two fifteen sixteen seventeen eighteen nineteen twenty thirty forty'
  const longest = text.split(' ').filter((word) => !['one', 'two'].includes(word))
  expect(words(text).toSorted()).toEqual(longest.toSorted())
})

test('a search uses the eight longest literals, without duplicates and parts of others', () => {
  expect(signs('100% % 0% a_B A_b _ 100%')).toEqual(['100%', 'a_b'])
  const many = Array.from({ length: 20 }, (_, index) => `%${'x'.repeat(index)}%`)
  expect(signs(many.join(' '))).toEqual(many.slice(12).toReversed())
})

test('a search looks for at most 24 characters around a sign of a long literal', () => {
  expect(signs(`${'a'.repeat(40)}%${'b'.repeat(40)}`)).toEqual([`${'a'.repeat(12)}%${'b'.repeat(11)}`])
  expect(signs(`%${'b'.repeat(40)}`)).toEqual([`%${'b'.repeat(23)}`])
  expect(signs(`a%b${'c'.repeat(40)}_`)).toEqual([`a%b${'c'.repeat(21)}`, `${'c'.repeat(23)}_`])
})

test('a search text of a hundred characters has at most eight words and eight literals', () => {
  const characters = Array.from('aáäbB1ß가Ω茶%_ -\u0301')
  const text = fc
    .array(fc.constantFrom(...characters), { minLength: 50, maxLength: 100 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (text) => {
      expect(words(text).length).toBeLessThanOrEqual(8)
      expect(signs(text).length).toBeLessThanOrEqual(8)
    }),
    { examples: [['aaaaaaaaa%aaaaaaaaaaaaaa%aaaaaaaaaaa%aaaaaaaaaaaaaaa_ a_aaaaaaa aa%aab aaa1% _ab _aaaa가']] }
  )
})
