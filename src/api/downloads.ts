import { listDownloads } from '../shop/benefits/download-links.ts'
import { downloadsData } from './answers/account.ts'
import { route } from './route.ts'

export const downloadRoutes = [
  route({
    method: 'GET',
    path: '/me/downloads',
    summary: "The current user's downloads",
    answers: [{ data: downloadsData }],
    refuses: [],
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 422,
    handler: ({ shop, identity, now }) => ({
      data: { downloads: listDownloads(shop.db, shop.keys, identity.user.id, now) }
    })
  })
]
