import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readWebAddress } from '../../../src/shop/checkout/input.ts'

describe('an address that a browser is sent to', () => {
  test.each([
    'https://shop.example',
    'http://localhost:5173/thanks?x=1#done',
    'https://[::1]:8443/a',
    'https://192.0.2.7/a',
    'https://my_site.example/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/späti?q=ö',
    'HTTPS://Shop.Example/x@y?mail=a@b'
  ])('can be %s', (text) => {
    expect(readWebAddress(text)?.origin).toBe(new URL(text).origin)
  })

  test.each([
    ['', 'nothing'],
    ['/thanks', 'a path'],
    ['//shop.example/', 'no scheme'],
    ['shop.example', 'no scheme'],
    ['javascript:alert(1)', 'a script'],
    ['data:text/html,x', 'data'],
    ['ftp://shop.example/', 'another scheme'],
    ['https:shop.example', 'no slashes'],
    ['https:///shop.example', 'three slashes'],
    ['https://?x', 'no host'],
    ['https://shop.example@evil.example/', 'a user name'],
    ['https://shop.example:pw@evil.example/', 'a user name and password'],
    ['https://@evil.example/', 'an empty user name'],
    ['https://:@evil.example/', 'an empty user name and password'],
    ['https://shop.example%40evil.example/', 'an encoded @ in its host'],
    ['https:\\\\shop.example/', 'backslashes for slashes'],
    ['https://shop.example\\@evil.example/', 'a backslash before an @'],
    ['https://shop.example/a\\b', 'a backslash in its path'],
    [' https://shop.example/', 'a space before it'],
    ['https://shop.example/ ', 'a space behind it'],
    ['https://shop.example/a b', 'a space in it'],
    ['https://shop.example/\n', 'a line break behind it'],
    ['ht\ntps://shop.example/', 'a line break in its scheme'],
    ['https://shop\t.example/', 'a tab in its host'],
    ['https://shop.example/\u0000', 'a NUL'],
    ['https://shop.example/\u202Etxt', 'a mark that turns the direction'],
    ['https://shop.example/\u00A0', 'a no-break space'],
    ['https://shop.example:99999/', 'no such port'],
    ['https://sh|op.example/', 'a host that is none'],
    ['https://a;frame-ancestors/x', 'a directive of a policy for its host'],
    ['https://a,b.example/', 'two hosts'],
    ["https://a'none'/", 'a word of a policy']
  ])('cannot be %j: %s', (text) => {
    expect(readWebAddress(text)).toBeUndefined()
  })

  test('is never read with credentials, another scheme or another host than the text shows', () => {
    const known = [
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '.',
      '#',
      '?',
      '%40',
      '%2f',
      ' ',
      '\t',
      '[',
      ']',
      '::1',
      '80'
    ]
    const alike = ['\u3002', '\uFF0F', '\uFF20', '\u2024', 'shop.example', 'evil.example', 'user']
    const piece = fc.constantFrom(...known, ...alike)
    const text = fc
      .array(piece, { maxLength: 10 })
      .map((pieces) => pieces.join(''))
      .chain((tail) => fc.constantFrom(tail, `https://${tail}`, `https://shop.example${tail}`))
    fc.assert(
      fc.property(text, (sent) => {
        const url = readWebAddress(sent)
        fc.pre(url !== undefined)
        expect(url.protocol).toMatch(/^https?:$/)
        expect([url.username, url.password, url.href.includes('\\')]).toEqual(['', '', false])
        // What is kept reads the same again, also by the plainest of parsers.
        expect(readWebAddress(url.href)?.href).toBe(url.href)
        expect(/^https?:\/\/([^/?#]+)/.exec(url.href)?.[1]).toBe(url.host)
      }),
      { numRuns: 500 }
    )
  })
})
