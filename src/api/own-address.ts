import { z } from 'zod'
import { addressParts } from '../shop/checkout/address-input.ts'
import { changeOwnAddress } from '../shop/customers/own-address.ts'
import { ownAddressData } from './answers/account.ts'
import { route } from './route.ts'

const proxied = { nonce: true, query: [] } as const

/** The address of an account. GET /me stays what docs/interface.md 4.4 says, so the address has a path of its own. */
export const ownAddressRoutes = [
  route({
    method: 'GET',
    path: '/me/address',
    summary: "The address of the logged-in user's account, with which a checkout can start",
    answers: [{ data: ownAddressData }],
    refuses: [],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    handler: ({ identity }) => ({ data: { address: identity.user.address } })
  }),
  route({
    method: 'POST',
    path: '/me/address',
    summary: 'Store the address of the account, by the rules of its country; null removes it',
    answers: [{ data: ownAddressData }],
    refuses: ['RATE_LIMITED'],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    body: z.object({ address: addressParts.nullable() }),
    handler: async ({ shop, identity, now }, { body }) => ({
      data: { address: await changeOwnAddress(shop, identity.user.id, body.address, now) }
    })
  })
]
