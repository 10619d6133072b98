import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { slugFor } from '../../../../src/shop/catalog/import/slug.ts'
import { wordPressSlug } from '../../../../src/shop/catalog/import/wordpress-slug.ts'

const escapes: Readonly<Record<string, string>> = { '\\\\': '\\', '\\t': '\t', '\\n': '\n', '\\r': '\r' }
/** Names and what WordPress's own sanitize_title makes of them with two languages. The first line is a heading. */
const names = readFileSync(join(import.meta.dirname, 'exports/wordpress-slugs.tsv'), 'utf8')
  .split('\n')
  .slice(1)
  .filter((line) => line !== '')
  .map((line) => {
    const [title = '', english = '', german = ''] = line.split('\t')
    return [title.replaceAll(/\\[\\tnr]/g, (escape) => escapes[escape] ?? escape), english, german] as const
  })

describe('the slug of a WordPress', () => {
  it.each(names)('of %s is %s in English and %s in German', (title, english, german) => {
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
