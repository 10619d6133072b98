import { expect, it } from 'vitest'
import { markdownHtml, markdownText } from '../../src/platform/markdown.ts'

const text = `# Terms

One **bold** word, <b>HTML</b> & "quotes".
Second line.

- first item
  goes on
- second

1. one

| Name | For |
|---|---|
| cart | the \\| cart |

See [terms](/law/terms), [us](https://shop.example?a=1&b=2), [a script](javascript:alert(1)), [other](//evil.example) or \`code\`.`

it('writes Markdown as HTML in which everything else is text', () => {
  expect(markdownHtml(text, 'https://shop.example').split('\n')).toEqual([
    '<h1>Terms</h1>',
    '<p dir="auto">One <strong>bold</strong> word, &lt;b&gt;HTML&lt;/b&gt; &amp; &quot;quotes&quot;.<br>Second line.</p>',
    '<ul>',
    '<li dir="auto">first item goes on</li>',
    '<li dir="auto">second</li>',
    '</ul>',
    '<ol>',
    '<li dir="auto">one</li>',
    '</ol>',
    '<table><thead><tr><th>Name</th><th>For</th></tr></thead><tbody><tr><td>cart</td><td>the | cart</td></tr></tbody></table>',
    '<p dir="auto">See <a href="https://shop.example/law/terms">terms</a>, <a href="https://shop.example?a=1&amp;b=2">us</a>, a script), other or <code>code</code>.</p>'
  ])
})

it('writes Markdown as plain text with the address behind each link', () => {
  const plain = markdownText(text, 'https://shop.example')
  expect(plain).toContain(
    'Terms\n\nOne bold word, <b>HTML</b> & "quotes".\nSecond line.\n\n- first item\n  goes on\n- second\n1. one\n\n| Name'
  )
  expect(plain).toContain(
    'See terms (https://shop.example/law/terms), us (https://shop.example?a=1&b=2), a script), other or code.'
  )
  expect(markdownText('[a@shop.example](mailto:a@shop.example)')).toBe('a@shop.example')
})
