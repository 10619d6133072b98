import { describe, expect, test } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import { checkoutBody } from '../../../src/shop/checkout/input.ts'
import { makeAccount, prepareAccount, readAccountRequest } from '../../../src/shop/checkout/new-account.ts'
import type { AccountRequest } from '../../../src/shop/checkout/new-account.ts'
import { setSetting } from '../../../src/shop/settings/settings.ts'
import { mailsOf, refusal } from '../../support/accounts.ts'
import { goodPassword, makeUser } from '../../support/people.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'

const request: AccountRequest = {
  email: 'Ada@example.com',
  password: goodPassword,
  displayName: 'Ada Quill',
  names: { firstName: 'Ada', lastName: 'Quill' }
}
const address = '192.0.2.7'

function read(shop: TestShop, sent: object | undefined, email: string | null = 'ada.quill@example.com') {
  const { customer } = checkoutBody.parse({ items: [{ productId: 1, quantity: 1 }], customer: sent })
  return readAccountRequest(shop, customer, email)
}

const on = (field: string) =>
  refusal('VALIDATION_FAILED', { fieldErrors: { [field]: [expect.stringMatching(/^[A-Z].*\.$/)] } })

describe('the request for an account', () => {
  const asked = { createAccount: true, password: goodPassword }

  test('is null without createAccount, and when the shop does not allow it', async () => {
    using shop = openTestShop()
    for (const sent of [undefined, {}, { password: goodPassword }, { ...asked, createAccount: false }])
      expect(await read(shop, sent)).toBeNull()
    setSetting(shop.db, 'checkout.accountCreation', 'false', 0)
    expect(await read(shop, asked)).toBeNull()
  })

  test("contains the given name, otherwise the email's local part", async () => {
    using shop = openTestShop()
    const nameOf = async (names: object) => (await read(shop, { ...asked, ...names }))?.displayName
    expect(await nameOf({ firstName: 'Ada', lastName: 'Quill' })).toBe('Ada Quill')
    expect(await nameOf({ lastName: 'Quill' })).toBe('Quill')
    expect(await nameOf({})).toBe('ada.quill')
    // Cut between characters that are two units each, and not at a space.
    expect(await nameOf({ firstName: '🏮'.repeat(60), lastName: 'x'.repeat(60) })).toBe(
      `${'🏮'.repeat(60)} ${'x'.repeat(39)}`
    )
    expect(await nameOf({ firstName: 'y'.repeat(99), lastName: 'Quill' })).toBe('y'.repeat(99))
    expect(await read(shop, asked)).toEqual({
      email: 'ada.quill@example.com',
      password: goodPassword,
      displayName: 'ada.quill',
      names: { firstName: null, lastName: null }
    })
  })

  test('requires an email and a password', async () => {
    using shop = openTestShop()
    await expect(read(shop, asked, null)).rejects.toThrow(on('customer.email'))
    await expect(read(shop, { createAccount: true })).rejects.toThrow(on('customer.password'))
    await expect(read(shop, { ...asked, password: '' })).rejects.toThrow(on('customer.password'))
  })

  test('requires a password that follows the rules of registration', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'shop.name', 'Saltmarsh', 0)
    setSetting(shop.db, 'registration.passwordMinLength', '12', 0)
    const names = { firstName: 'Bartholomew' }
    for (const password of ['kelp-93-tow', 'bartholomew93', 'ada.quill-93', 'saltmarsh-93'])
      await expect(read(shop, { ...asked, ...names, password })).rejects.toMatchObject({
        message: 'This password is too weak.',
        details: { fieldErrors: { 'customer.password': ['Must be longer and harder to guess.'] } }
      })
    expect(await read(shop, { ...asked, ...names, password: 'kelp-93-tows' })).toMatchObject({
      password: 'kelp-93-tows'
    })
  })
})

describe('the account', () => {
  test('is created as at registration, without any consent', async () => {
    using shop = openTestShop()
    const account = await prepareAccount(shop, request, address)
    expect(account).toEqual({
      email: 'Ada@example.com',
      displayName: 'Ada Quill',
      passwordHash: expect.stringMatching(/^\$argon2id\$/),
      firstName: 'Ada',
      lastName: 'Quill',
      marketingOptIn: false,
      verified: false,
      verificationPending: false,
      termsAcceptedAt: null,
      privacyAcceptedAt: null
    })
    const user = write(shop.db, (tx) => makeAccount(tx, shop, account, shop.clock.now()))
    expect(user).toMatchObject({ email: 'Ada@example.com', emailVerifiedAt: null, marketingOptIn: 'no' })
    expect(mailsOf(shop)).toEqual([])
  })

  test('gets a verification link when the shop verifies emails', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'registration.emailVerification', 'true', 0)
    const account = await prepareAccount(shop, request, address)
    expect(write(shop.db, (tx) => makeAccount(tx, shop, account, shop.clock.now()))?.verificationPending).toBe(true)
    expect(mailsOf(shop)).toMatchObject([{ template: 'verify_email', recipient: 'Ada@example.com' }])
  })

  test('is not made when the email has one, and its password is hashed all the same', async () => {
    using shop = openTestShop()
    await makeUser(shop, { email: 'ADA@example.com' })
    const account = await prepareAccount(shop, request, address)
    expect(account.passwordHash).toContain('$')
    expect(write(shop.db, (tx) => makeAccount(tx, shop, account, shop.clock.now()))).toBeNull()
    expect(mailsOf(shop)).toEqual([])
  })

  test('counts against the limits of registration, by address and by email in any case', async () => {
    using shop = openTestShop()
    setSetting(shop.db, 'limits.register_email', '1/60', 0)
    await prepareAccount(shop, request, address)
    await expect(prepareAccount(shop, { ...request, email: 'ada@EXAMPLE.com' }, '192.0.2.8')).rejects.toThrow(
      refusal('RATE_LIMITED', { bucket: 'register_email' })
    )
    setSetting(shop.db, 'limits.register_ip', '1/60', 0)
    await expect(prepareAccount(shop, { ...request, email: 'uma@example.com' }, address)).rejects.toThrow(
      refusal('RATE_LIMITED', { bucket: 'register_ip' })
    )
  })
})
