import { describe, expect, it } from 'vitest'
import { slugFor } from '../../../../src/shop/catalog/import/slug.ts'
import { wordPressSlug } from '../../../../src/shop/catalog/import/wordpress-slug.ts'

describe('the slug of a WordPress', () => {
  it.each([
    ['Mother’s Day', 'mothers-day', 'mothers-day'],
    ['groß & klein', 'gros-klein', 'gross-klein'],
    ['Für Ärzte: Öl', 'fur-arzte-ol', 'fuer-aerzte-oel'],
    ['ẞ', '%c3%9f', 'ss'],
    ['50 % Rabatt', '50-rabatt', '50-rabatt'],
    ['Schuhe/Stiefel v1.2', 'schuhe-stiefel-v1-2', 'schuhe-stiefel-v1-2'],
    ['2×3 a+b', '2x3-ab', '2x3-ab'],
    ['Łódź œuvre Ærø Þing', 'lodz-oeuvre-aero-thing', 'lodz-oeuvre-aero-thing'],
    ['<b>fett</b> &amp; mehr', 'fett-mehr', 'fett-mehr'],
    ['тест', '%d1%82%d0%b5%d1%81%d1%82', '%d1%82%d0%b5%d1%81%d1%82'],
    ['...', '', '']
  ])('of %s is %s in English and %s in German', (title, english, german) => {
    expect([wordPressSlug(title), wordPressSlug(title, 'de_DE')]).toEqual([english, german])
  })

  it('has at most 200 characters, and ends before a letter that does not fit', () => {
    expect(wordPressSlug('a'.repeat(300))).toHaveLength(200)
    expect(wordPressSlug(`${'a'.repeat(198)}ё`)).toBe('a'.repeat(198))
  })
})

describe('the slug of a shop', () => {
  it('is that of a WordPress without the letters of other scripts', () => {
    expect(slugFor("Mother's Day 🎁")).toBe('mothers-day')
    expect(slugFor('Größe_L', 'de')).toBe('groesse-l')
    expect(slugFor('ﬁn ＡＢ Ḿ')).toBe('fin-ab-m')
    expect(slugFor('湯呑')).toMatch(/^item-[0-9a-f]{8}$/)
    expect(slugFor(`${'a'.repeat(99)} b`)).toBe('a'.repeat(99))
  })
})
