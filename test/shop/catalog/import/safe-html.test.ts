import { describe, expect, it } from 'vitest'
import { toSafeHtml, withParagraphs } from '../../../../src/shop/catalog/import/html-text.ts'

describe('sanitised HTML', () => {
  it.each([
    ['<p>One <b>two</b></p>', '<p>One <b>two</b></p>'],
    ['<h1 class="x" style="color:red">One</h1>', '<h2>One</h2>'],
    ['<b onclick="x()">One</b><script>x()</script>', '<b>One</b>'],
    ['<a href="javascript:x()">One</a>', '<a>One</a>'],
    ['<a href=" java\tscript:x()">One</a>', '<a>One</a>'],
    ['<a href="//evil.example">One</a>', '<a>One</a>'],
    ['<a href="https://a.example/?b&amp;c" target="_blank">One</a>', '<a href="https://a.example/?b&amp;c">One</a>'],
    ['<b>One</b><iframe src="https://a.example">Two</iframe><img src=x onerror=x()>', '<b>One</b>'],
    ['<b>One</b><svg><style><img src=x onerror=x()></style></svg>', '<b>One</b>'],
    ['<table><tr><td colspan="2">One</td></tr></table>', '<table><tr><td colspan="2">One</td></tr></table>'],
    ['<b>One', '<b>One</b>']
  ])('of %j is %j', (html, safe) => {
    expect(toSafeHtml(html)).toBe(safe)
  })

  it.each([
    '',
    'One & two',
    'a < b',
    '<p>One</p><p>Two<br>three</p>',
    '<ul></ul>',
    '<img src="https://a.example/1.png">'
  ])('of %j is null, because the text has everything', (html) => {
    expect(toSafeHtml(html)).toBeNull()
  })

  it.each(['<a', '<!--', '<b>', '<script>', '</', '&', '<a href="', '<b>x</b>', '<div><p>'])(
    'of many repetitions of %j takes linear time',
    (piece) => {
      const html = `<b>x</b>${piece.repeat(20_000)}`
      expect(typeof (toSafeHtml(html) ?? '')).toBe('string')
    }
  )

  it('has the paragraphs that WordPress makes of empty lines', () => {
    expect(withParagraphs('One\ntwo\n\n<ul><li>x</li></ul>\n \nThree')).toBe(
      '<p>One<br>two</p>\n<ul><li>x</li></ul>\n<p>Three</p>'
    )
    expect(withParagraphs('<p>One</p>\n\ntwo')).toBe('<p>One</p>\n\ntwo')
  })
})
