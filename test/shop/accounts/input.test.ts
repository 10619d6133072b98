import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { parseWith } from '../../../src/platform/http/validation.ts'
import {
  changePasswordInput,
  emailInput,
  loginInput,
  profileInput,
  registerInput,
  resetPasswordInput,
  tokenInput
} from '../../../src/shop/accounts/input.ts'

const body = { email: 'mira@shop.example', password: 'x', displayName: 'Mira', acceptTerms: true }

/** The paths of what is wrong; none when it is taken. */
function wrong(schema: z.ZodType, value: unknown): string[] {
  try {
    parseWith(schema, value)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return Object.keys(error.details.fieldErrors ?? {})
  }
}
const registering = (changes: object) => wrong(registerInput, { ...body, ...changes })

describe('a registration holds', () => {
  it('four fields that are needed, and says which are missing', () => {
    expect(wrong(registerInput, {})).toEqual(['email', 'password', 'displayName', 'acceptTerms'])
    expect(wrong(registerInput, null)).toEqual(['_body'])
    expect(wrong(registerInput, [])).toEqual(['_body'])
  })

  it('optional fields, where null and nothing are the same', () => {
    const nulls = {
      firstName: null,
      lastName: null,
      marketingOptIn: null,
      termsAcceptedAt: null,
      privacyAcceptedAt: null
    }
    const parsed = parseWith(registerInput, { ...body, ...nulls })
    expect(parsed).toEqual({ ...body, ...nulls, marketingOptIn: false })
    expect(parseWith(registerInput, body)).toEqual(parsed)
  })

  it('an email of sane form, in any script, at most 254 code points', () => {
    const label = 'a'.repeat(62)
    const longest = `${'a'.repeat(64)}@${label}.${label}.${'b'.repeat(59)}.xyz`
    expect(longest).toHaveLength(254)
    const good = [
      'a@b.co',
      ' Mira.O\u2019Neil+shop@sub.shop.example '.replace('\u2019', "'"),
      'zo\u00eb@b\u00fccher.example',
      '\u674e@\u4f8b\u3048.\u30c6\u30b9\u30c8',
      'a@xn--bcher-kva.example',
      '1@1a.de',
      longest
    ]
    for (const email of good) expect(registering({ email })).toEqual([])
    const bad = [
      '',
      ' ',
      'mira',
      '@shop.example',
      'mira@',
      'mira@localhost',
      'mira@127.0.0.1',
      'mira@[127.0.0.1]',
      'mira@1.2',
      'mi ra@shop.example',
      'mira@shop..example',
      'mira@.shop.example',
      'mira@shop.example.',
      'mira@-shop.example',
      'mira@shop_a.example',
      'mira@sh%6fp.example',
      '.mira@shop.example',
      'mira.@shop.example',
      'mi..ra@shop.example',
      'mira@a@shop.example',
      'mira\u0000@shop.example',
      'mira@shop.example\r\nBcc: x@y.example',
      'Mira <mira@shop.example>',
      'a,b@shop.example',
      '\u202emira@shop.example',
      `${'a'.repeat(65)}@shop.example`,
      `x${longest}`,
      42,
      null,
      { $ne: '' }
    ]
    for (const email of bad) expect(registering({ email })).toEqual(['email'])
  })

  it('an email in NFC without the blanks around it, in the case it was typed in', () => {
    expect(parseWith(registerInput, { ...body, email: ' Ame\u0301lie@Shop.example\n' }).email).toBe(
      'Am\u00e9lie@Shop.example'
    )
  })

  it('a display name of 1 to 100 code points, trimmed, without control characters', () => {
    for (const displayName of ['M', ' \u{1F3EE}'.repeat(50), '\u{1F3EE}'.repeat(100), "D'Arc, \u200fX"]) {
      expect(registering({ displayName })).toEqual([])
    }
    const bad = [
      '',
      '  ',
      '\u200b',
      '\u{1F3EE}'.repeat(101),
      'a\nb',
      'a\u0000',
      '\u202eabc',
      'a\u2028b',
      '\ud800',
      7,
      null
    ]
    for (const displayName of bad) expect(registering({ displayName })).toEqual(['displayName'])
    expect(parseWith(registerInput, { ...body, displayName: '  Mira  O ' }).displayName).toBe('Mira  O')
  })

  it('a password that is any text but none', () => {
    for (const password of [' ', 'x', '\u0000', 'x'.repeat(10_000)]) {
      expect(parseWith(registerInput, { ...body, password }).password).toBe(password)
    }
    for (const password of ['', null, undefined, 12_345_678, true, ['x']]) {
      expect(registering({ password })).toEqual(['password'])
    }
  })
})

describe('a registration also holds', () => {
  it('acceptTerms true, and marketingOptIn a boolean', () => {
    for (const acceptTerms of [false, 'true', 1, null]) expect(registering({ acceptTerms })).toEqual(['acceptTerms'])
    for (const marketingOptIn of ['yes', 1, 'false'])
      expect(registering({ marketingOptIn })).toEqual(['marketingOptIn'])
  })

  it('first and last name of at most 100 code points, empty ones as none', () => {
    expect(registering({ firstName: 'x'.repeat(101), lastName: 'a\tb' })).toEqual(['firstName', 'lastName'])
    expect(parseWith(registerInput, { ...body, firstName: ' ', lastName: 'x'.repeat(100) }).firstName).toBeNull()
  })

  it('times of ISO 8601: a date, or a date-time with Z or offset, seconds optional', () => {
    const at = (termsAcceptedAt: unknown) => parseWith(registerInput, { ...body, termsAcceptedAt }).termsAcceptedAt
    const noon = Date.UTC(2026, 0, 15, 12)
    for (const text of ['2026-01-15T12:00Z', '2026-01-15T12:00:00Z', '2026-01-15T13:30:00.000+01:30']) {
      expect(at(text)).toBe(noon)
    }
    expect(at('2026-01-15')).toBe(Date.UTC(2026, 0, 15))
    expect(at('2026-01-15T12:00:00.123456Z')).toBe(noon + 123)
    const bad = [
      '',
      'now',
      '2026-02-30',
      '2026-01-15T12:00',
      '2026-01-15 12:00Z',
      '2026-1-5',
      '15.01.2026',
      1_768_478_400,
      '2026-01-15T25:00Z'
    ]
    for (const text of bad) expect(registering({ termsAcceptedAt: text })).toEqual(['termsAcceptedAt'])
  })

  it('nothing that its refusal would repeat', () => {
    const sent = {
      email: 'secret-1',
      password: 7_654_321,
      displayName: 'secret-2\n',
      acceptTerms: 'secret-3',
      termsAcceptedAt: 'secret-4'
    }
    const refusal = (() => {
      try {
        return parseWith(registerInput, sent)
      } catch (error) {
        return error
      }
    })()
    expect(JSON.stringify(refusal)).not.toMatch(/secret|7654321/)
    expect(wrong(registerInput, sent)).toHaveLength(5)
  })
})

describe('a login holds', () => {
  it('a username or an email, and a password', () => {
    expect(wrong(loginInput, { password: 'x' })).toEqual(['username', 'email'])
    expect(wrong(loginInput, { password: 'x', username: '', email: null })).toEqual(['username', 'email'])
    expect(wrong(loginInput, { username: 'mira' })).toEqual(['password'])
    expect(wrong(loginInput, { email: 'mira@shop.example', password: 'x', rememberMe: null })).toEqual([])
    expect(wrong(loginInput, { email: 'mira@shop.example', password: 'x', rememberMe: 'yes' })).toEqual(['rememberMe'])
    expect(wrong(loginInput, { username: ['mira'], password: 'x' })).toEqual(['username'])
  })

  it('any text for an email: one that is none is an unknown account', () => {
    expect(wrong(loginInput, { email: 'not an email', password: 'x' })).toEqual([])
  })

  it('reports everything that is missing in one error', () => {
    expect(wrong(loginInput, 'mira')).toEqual(['_body'])
    expect(wrong(loginInput, {}).sort()).toEqual(['email', 'password', 'username'])
  })
})

describe('the other forms', () => {
  it('take a token, an email or passwords that are text', () => {
    expect(wrong(tokenInput, { token: 'x' })).toEqual([])
    for (const token of ['', 'x'.repeat(201), 5, null]) expect(wrong(tokenInput, { token })).toEqual(['token'])
    expect(wrong(emailInput, { email: 'nobody' })).toEqual(['email'])
    expect(wrong(resetPasswordInput, {})).toEqual(['token', 'password'])
    expect(wrong(changePasswordInput, { currentPassword: '' })).toEqual(['currentPassword', 'newPassword'])
  })

  it('let a profile change only what it may, and clear what is optional', () => {
    expect(wrong(profileInput, {})).toEqual([])
    expect(wrong(profileInput, { email: 'x@y.example', isAdmin: true })).toEqual(['email', 'isAdmin'])
    expect(wrong(profileInput, { displayName: null })).toEqual(['displayName'])
    expect(wrong(profileInput, { displayName: ' ' })).toEqual(['displayName'])
    expect(wrong(profileInput, { billingEmail: 'no', billingPhone: 'x'.repeat(41) })).toEqual([
      'billingEmail',
      'billingPhone'
    ])
    expect(
      parseWith(profileInput, {
        firstName: null,
        lastName: '',
        billingEmail: null,
        companyName: ' Slow Coast ',
        marketingOptIn: null
      })
    ).toEqual({ firstName: null, lastName: null, billingEmail: null, companyName: 'Slow Coast', marketingOptIn: false })
  })
})
