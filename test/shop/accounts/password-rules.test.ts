import { describe, expect, it } from 'vitest'
import { checkPassword } from '../../../src/shop/accounts/password-rules.ts'

const owner = {
  email: 'mira.okafor@shop.example',
  displayName: 'Mira Okafor',
  shopName: 'Shopstead Demo',
  minLength: 8
}
const check = (password: string, changes: object = {}) => checkPassword(password, { ...owner, ...changes })

describe('a password', () => {
  it('has the shop’s least length to 256, counted in code points', async () => {
    expect(await check('k7#pQ2v')).toEqual(['min_length'])
    expect(await check('k7#pQ2vz')).toEqual([])
    expect(await check('\u{1F3EE}\u{1F512}\u{1F511}\u{1F4A7}\u{1F30A}\u{2693}\u{1F40B}')).toEqual(['min_length'])
    expect(await check('k7#pQ2vz', { minLength: 15 })).toEqual(['min_length'])
    expect(await check('\u{1F3EE}'.repeat(256))).toEqual([])
    expect(await check('\u{1F3EE}'.repeat(257))).toEqual(['max_length'])
  })

  it('needs no kinds of characters, and may hold any', async () => {
    for (const password of ['hbrlntrn', '        ', '73920184', '\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007']) {
      expect(await check(password)).toEqual([])
    }
    expect(await check('lantern\ud800harbour')).toEqual(['well_formed'])
  })

  it('is not on the list of common ones, whatever its case', async () => {
    for (const password of ['password1', 'PassWord1', 'qwertyuiop', '12345678'])
      expect(await check(password)).toEqual(['common'])
  })

  it('is common only as a whole', async () => {
    expect(await check('password1-lantern')).toEqual([])
    expect(await check('password1 ')).toEqual([])
  })

  it('has 8 code points of its own beside the email’s local part, the display name and the shop’s name', async () => {
    expect(await check('MIRA.OKAFOR-1234567')).toEqual([])
    expect(await check('MIRA.OKAFOR-123456')).toEqual(['personal'])
    expect(await check('mira okafor 1234')).toEqual(['personal'])
    expect(await check('xMiraOkafor2026')).toEqual(['personal'])
    expect(await check('shopstead demo!')).toEqual(['personal'])
    expect(await check('ShopsteadDemo99')).toEqual(['personal'])
    expect(await check('mira.okafor shopstead demo 12345')).toEqual(['personal'])
    expect(await check('mira.okaformira.okaformira.okafor')).toEqual(['personal'])
    expect(await check('harbour-lantern-42')).toEqual([])
  })

  it('is not held against names of one or two letters', async () => {
    expect(await check('a1x2y3z9', { email: 'a@shop.example', displayName: 'Y3' })).toEqual([])
  })

  it('takes names for text, not for patterns', async () => {
    expect(await check('lantern-harbour', { displayName: '.*', email: '$&$&@shop.example' })).toEqual([])
  })
})
