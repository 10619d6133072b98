import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { htmlToLine, htmlToText } from '../../../../src/shop/catalog/import/html-text.ts'

describe('the conversion of HTML to text', () => {
  it.each([
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<div>One</div>\n<div>Two</div>', 'One\nTwo'],
    ['One<br>Two<br/>Three', 'One\nTwo\nThree'],
    ['<ul><li>One</li><li>Two <b>bold</b></li></ul>', '- One\n- Two bold'],
    ['<h2>Title</h2>Text', 'Title\n\nText'],
    ['<p>one\n  line</p>\n\n\n<p>next</p>', 'one line\n\nnext'],
    ['<table><tr><td>A</td><td>B</td></tr><tr><td>C</td></tr></table>', 'A B\nC'],
    ['plain\nlines\n\n\n\nstay', 'plain\nlines\n\nstay'],
    ['first\n\nsecond <ul><li>x</li></ul>', 'first\n\nsecond\n\n- x'],
    ['<!-- wp:paragraph --><p>Block</p><!-- /wp:paragraph -->', 'Block'],
    ['<style>p { color: red }</style><p>Seen</p><script>alert("no")</script>', 'Seen'],
    ['<a href="https://shop.example/?a=1&b=2" title="x">link</a>', 'link']
  ])('converts %j', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  it('decodes character references once', () => {
    expect(htmlToText('Fish &amp; chips &ndash; &pound;5 &#8211; &#x1F600; caf&eacute;&nbsp;!')).toBe(
      'Fish & chips – £5 – 😀 café !'
    )
    expect(htmlToText('&amp;lt;b&amp;gt; &lt;b&gt;')).toBe('&lt;b&gt; <b>')
    expect(htmlToText('&unknown; &#0; &#xD800; &#9999999; AT&T')).toBe('&unknown; � � � AT&T')
  })

  it('keeps angle brackets that do not open a tag', () => {
    expect(htmlToText('I <3 cats, 1 < 2 > 0')).toBe('I <3 cats, 1 < 2 > 0')
  })

  it('puts names on one line', () => {
    expect(htmlToLine(' Salt<br>&amp; <em>Pepper</em>\n')).toBe('Salt & Pepper')
  })

  it('accepts any text and removes all control characters', () => {
    const fragment = fc.constantFrom(
      '<p>',
      '</p>',
      '<!--',
      '-->',
      '<script>',
      '<',
      '>',
      '&',
      '&#',
      ';',
      '"',
      '\n',
      'a',
      ' '
    )
    const html = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fragment).map((parts) => parts.join(''))
    )
    fc.assert(
      fc.property(html, (html) => {
        expect(htmlToText(html)).not.toMatch(/(?!\n)\p{Cc}/u)
      })
    )
  })

  it.each(['<a', '<!--', '<script>', '&', '<a <', '< \n', ' \n \n', '<p>'])(
    'converts many repetitions of %j in linear time',
    (piece) => {
      expect(htmlToText(piece.repeat(200_000)).length).toBeGreaterThanOrEqual(0)
    }
  )

  it.each(['<', '</', '<a '])('converts %j before many letters in linear time', (start) => {
    const text = start + 'a'.repeat(300_000)
    expect(htmlToText(text) === text).toBe(true)
  })
})
