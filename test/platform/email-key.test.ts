import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emailDomain, emailKey, withoutPlusTag, compareKey } from '../../src/platform/text.ts'

describe('emailKey', () => {
  it.each([
    ' Mira@Shop.Example ',
    'mira@\u017Fhop.example',
    'mira@\uFF33\uFF48\uFF4F\uFF50.example',
    '\uFF4D\uFF49\uFF52\uFF41@shop.example',
    'm\u0131ra@shop.example'.replace('\u0131', 'I'),
    'mira@shop\uFE0F.example'
  ])('gives %j the key of its mailbox', (email) => {
    expect(emailKey(email)).toBe('mira@shop.example')
  })

  it('gives a domain in letters the key of its ASCII form', () => {
    for (const domain of ['m\u00FCnchen.example', 'MU\u0308NCHEN.example', 'XN--MNCHEN-3YA.example'])
      expect(emailKey(`a@${domain}`)).toBe('a@xn--mnchen-3ya.example')
  })

  it('keeps different mailboxes apart', () => {
    const emails = ['mira@shop.example', 'mira+x@shop.example', 'm.ira@shop.example', 'm\u0131ra@shop.example']
    expect(new Set(emails.map(emailKey)).size).toBe(emails.length)
  })

  it('does not depend on where a sigma stands in the name', () => {
    for (const local of ['xΣ', 'xϹ', 'xς', 'xσ']) expect(emailKey(`${local}@shop.example`)).toBe('xσ@shop.example')
    expect(emailKey(compareKey('xϹ@shop.example'))).toBe('xσ@shop.example')
  })

  it('is the compareKey of a text that is not an email', () => {
    expect(emailKey(' MIRA ')).toBe('mira')
    expect(emailKey('@Shop')).toBe('@shop')
  })

  it('gives a key its own key, and a compareKey the key of its email', () => {
    const email = fc.tuple(fc.string({ unit: 'grapheme' }), fc.domain()).map(([local, domain]) => `x${local}@${domain}`)
    fc.assert(
      fc.property(email, (text) => {
        const key = emailKey(text)
        expect(emailKey(key)).toBe(key)
        expect(emailKey(compareKey(text))).toBe(key)
      })
    )
  })
})

it.each(['xn--shop-.example', 'xn--0.example', 'xn--hop-pua.example', 'shop', '1.2.3.4', 'a..example', 'a b.example'])(
  'refuses the domain %s',
  (domain) => {
    expect(emailDomain(domain)).toBeUndefined()
  }
)

it('removes the tag of a plus address', () => {
  expect(withoutPlusTag('mira+a+b@shop.example')).toBe('mira@shop.example')
  expect(withoutPlusTag('+mira@shop.example')).toBe('+mira@shop.example')
  expect(withoutPlusTag('mira@shop+x.example')).toBe('mira@shop+x.example')
  expect(withoutPlusTag('m.ira+x@googlemail.com')).toBe('mira@gmail.com')
  expect(withoutPlusTag('m.ira@shop.example')).toBe('m.ira@shop.example')
})
