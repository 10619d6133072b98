import {
  findPendingEmailChange,
  resendEmailChange,
  withdrawEmailChange
} from '../shop/accounts/pending-email-change.ts'
import { done, emailChangeData } from './answers/account.ts'
import { route } from './route.ts'

const proxied = { nonce: true, query: [] } as const

/** The change of the email that POST /auth/change-email has requested, until its link is used (docs/contract.md 5.25). */
export const emailChangeRoutes = [
  route({
    method: 'GET',
    path: '/me/email-change',
    summary: 'The change of the email whose link was not used yet',
    answers: [{ data: emailChangeData }],
    refuses: [],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    handler: ({ shop, identity, now }) => ({
      data: { pending: findPendingEmailChange(shop.db, identity.user.id, now) }
    })
  }),
  route({
    method: 'POST',
    path: '/me/email-change/resend',
    summary: 'Send the link of the pending change again; the earlier link ends',
    answers: [{ data: done('accepted') }],
    refuses: ['CONFLICT', 'AUTH_RATE_LIMITED'],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    handler: async ({ shop, identity, now }) => {
      await resendEmailChange(shop, identity.user.id, now)
      return { data: { accepted: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/me/email-change/withdraw',
    summary: 'Withdraw the pending change; its link ends. A second call changes nothing',
    answers: [{ data: done('withdrawn') }],
    refuses: ['AUTH_RATE_LIMITED'],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    handler: async ({ shop, identity, now }) => {
      await withdrawEmailChange(shop, identity.user.id, now)
      return { data: { withdrawn: true } }
    }
  })
]
