import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { nextMail } from '../support/mail-files.ts'
import { startShop } from '../support/running-shop.ts'

const traces = ['lena.hartwig@shop.example', 'lena.hartwig@SHOP.example', 'Hartwig', 'Hafenstra']

/** The files of the data folder that contain one of the texts. The sandbox stands for Stripe, which has its own records. */
function filesWith(dataDir: string, texts: readonly string[]): string[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('sandbox.db')
  )
  return files
    .filter(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name))
      return texts.some((text) => bytes.includes(text))
    })
    .map(({ name }) => name)
}

it('an erased person is in no byte of the database, its log or the mail folder while the server runs', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const { dataDir } = shop
  const lena = shop.visitor()
  const [email = '', typed = ''] = traces
  await lena.register({ email, displayName: 'Lena Hartwig', firstName: 'Lena', lastName: 'Hartwig' })
  const address = { lastName: 'Hartwig', address1: 'Hafenstraße 3', city: 'Kiel', country: 'DE' }
  for (const buyer of [lena, shop.visitor()])
    for (let order = 0; order < 2; order += 1)
      await buyer.post('/store/checkout-session', {
        items: [{ productId: 1, quantity: 1 }],
        customer: { email: typed, lastName: 'Hartwig' },
        billingAddress: address
      })
  await lena.post('/auth/forgot-password', { email: typed })
  await nextMail(dataDir, email)
  expect(filesWith(dataDir, traces)).toEqual(expect.arrayContaining([expect.stringMatching(/^shopstead\.db/)]))

  const erased = await shopstead(dataDir, ['users', 'erase', email, '--yes', '--json'])
  expect(erased).toMatchObject({ code: 0, json: { status: 'erased', tracesRemoved: true } })
  expect(filesWith(dataDir, traces)).toEqual([])
  expect((await shop.visitor().get('/store/offers')).status).toBe(200)
  expect((await shop.visitor().register({ email })).status).toBe(201)
})
