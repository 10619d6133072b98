import { z } from 'zod'
import type { StartedSession } from '../shop/accounts/sessions.ts'
import { proxyPrefix } from '../platform/http/cross-site.ts'
import { toIso } from '../platform/iso-time.ts'
import {
  loginInput,
  registerInput,
  changeEmailInput,
  changePasswordInput,
  deleteAccountInput,
  emailInput,
  profileInput,
  resetPasswordInput,
  tokenInput
} from '../shop/accounts/input.ts'
import { login, deviceCookie } from '../shop/accounts/login.ts'
import { logout, endedSessionCookie, sessionCookie } from '../shop/accounts/sessions.ts'
import { issueNonce } from '../shop/accounts/nonce.ts'
import { assertRegistrationOpen, register } from '../shop/accounts/register.ts'
import { updateProfile } from '../shop/accounts/update-profile.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { toUser } from '../shop/accounts/view.ts'
import { accountSummary } from '../shop/entitlements/entitlements.ts'
import { rolesOf } from '../shop/entitlements/roles.ts'
import {
  done,
  meData,
  nonceData,
  pendingData,
  startedData,
  downloadsData,
  emailChangeData,
  ownAddressData
} from './answers/account.ts'
import { time } from '../platform/public-fields.ts'
import { forEveryone, forUsers, route } from './route.ts'
import type { Call } from './route.ts'
import { changePassword } from '../shop/accounts/set-password.ts'
import { forgotPassword, resendVerification } from '../shop/accounts/recover.ts'
import {
  requestEmailChange,
  findPendingEmailChange,
  resendEmailChange,
  withdrawEmailChange
} from '../shop/accounts/request-email-change.ts'
import { confirmEmailChange, undoEmailChange } from '../shop/customers/confirm-email-change.ts'
import { deleteAccount } from '../shop/customers/delete-account.ts'
import { resetPassword } from '../shop/customers/reset-password.ts'
import { verifyEmail } from '../shop/customers/verify-email.ts'
import { listDownloads } from '../shop/benefits/download-links.ts'
import { bindByLink } from '../shop/affiliates/bindings.ts'
import { linkQuery } from '../shop/checkout/input.ts'
import { addressParts } from '../shop/checkout/address-rules.ts'
import { changeOwnAddress } from '../shop/customers/own-address.ts'

export const accountRoutes = [
  route({
    method: 'GET',
    path: '/nonce',
    summary: 'Issue a CSRF nonce',
    answers: [{ data: nonceData }],
    refuses: [],
    session: 'optional',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    invalid: 400,
    handler: ({ shop, identity, now }) => {
      const nonce = issueNonce(shop.keys, identity?.session.tokenHash ?? null, now)
      const common = { nonce, headerName: 'X-Nonce' }
      if (identity === null) return { data: { ...common, userLoggedIn: false, user: null } }
      const user = toUser(identity.user, rolesOf(shop.db, identity.user), { billing: false })
      return { data: { ...common, userLoggedIn: true, userId: user.id, user } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/register',
    summary: 'Create an account',
    answers: [
      {
        status: 201,
        data: startedData,
        meta: { extend: z.object({ nextStep: z.literal('NONE') }) },
        about: 'The user is logged in.'
      },
      {
        status: 201,
        data: pendingData,
        meta: { extend: z.object({ nextStep: z.literal('VERIFY_EMAIL'), expiresAt: time }) },
        about: 'The email must be verified first.'
      }
    ],
    sends: { 'Set-Cookie': 'The session, and the mark of a browser of this account.' },
    refuses: [
      'AUTH_REGISTRATION_FAILED',
      'PASSWORD_POLICY_VIOLATION',
      'AUTH_REGISTRATION_DISABLED',
      'AUTH_RATE_LIMITED',
      'DEPENDENCY_UNAVAILABLE'
    ],
    session: 'optional',
    nonce: 'always',
    startsSession: true,
    proxy: { nonce: true, query: ['ref', 'campaign'] },
    invalid: 422,
    gate: ({ shop }) => assertRegistrationOpen(shop),
    query: linkQuery,
    body: registerInput,
    handler: async (call, { query, body }) => {
      const { user, session, expiresAt } = await register(call.shop, body, call, call.now, (tx, { id }) =>
        bindByLink(tx, id, query, call.now)
      )
      if (session !== null)
        return { ...startedReply(call, user, session), status: 201, meta: { extend: { nextStep: 'NONE' } } }
      return {
        status: 201,
        data: { ...identityData(call, user, { isLoggedIn: false }), registrationStatus: 'pending_verification' },
        meta: { extend: { nextStep: 'VERIFY_EMAIL', expiresAt: toIso(expiresAt) } },
        // The verification link needs no password in the browser that has chosen it.
        cookies: [deviceCookie(call.shop, user, call.cookies)]
      }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Start a session',
    answers: [{ data: startedData }],
    sends: { 'Set-Cookie': 'The session, and the mark of a browser of this account.' },
    refuses: [
      'AUTH_INVALID_CREDENTIALS',
      'AUTH_EMAIL_NOT_VERIFIED',
      'AUTH_ACCOUNT_DEACTIVATED',
      'AUTH_RATE_LIMITED',
      'DEPENDENCY_UNAVAILABLE'
    ],
    session: 'optional',
    nonce: 'never',
    startsSession: true,
    proxy: { nonce: true, query: [] },
    invalid: 400,
    body: loginInput,
    handler: async (call, { body }) => {
      const { user, session } = await login(call.shop, body, call, call.now)
      return startedReply(call, user, session)
    }
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'End the session',
    answers: [{ data: done('loggedOut') }],
    sends: { 'Set-Cookie': 'Removes the session.' },
    refuses: [],
    ...forEveryone,
    session: 'optional',
    handler: async (call) => {
      await logout(call.shop, call)
      return { data: { loggedOut: true }, cookies: [endedSessionCookie(call.shop)] }
    }
  }),
  route({
    method: 'GET',
    path: '/me',
    summary: 'The current user',
    answers: [{ data: meData }],
    refuses: [],
    session: 'required',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 400,
    handler: ({ shop, identity, now }) => ({ data: accountSummary(shop.db, identity.user, { isLoggedIn: true }, now) })
  })
]

/** The account in the responses of register and login (docs/interface.md 4.2 and 4.3). */
function identityData({ shop, now }: Call, account: UserRow, options: { isLoggedIn: boolean }) {
  const { user, flags, entitlements } = accountSummary(shop.db, account, options, now)
  return { user, flags, entitlements }
}

function startedReply(call: Call, user: UserRow, session: StartedSession) {
  return {
    data: {
      ...identityData(call, user, { isLoggedIn: true }),
      next: `${proxyPrefix(call.request.headers) ?? call.shop.config.apiPrefix}/me`
    },
    cookies: [
      sessionCookie(call.shop, session.token, session.maxAgeSeconds),
      deviceCookie(call.shop, user, call.cookies)
    ]
  }
}

/** Endpoints to verify, recover and change an account (docs/contract.md A5). */
export const accountCareRoutes = [
  route({
    method: 'POST',
    path: '/auth/verify-email',
    summary:
      'Verify an email with the token from the verification email; outside of a browser of the account, `password` becomes its password and every session ends',
    answers: [{ data: done('verified') }],
    refuses: ['TOKEN_INVALID', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forEveryone,
    session: 'optional',
    body: tokenInput,
    handler: async (call, { body }) => {
      await verifyEmail(call.shop, body, call, call.now)
      return { data: { verified: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/resend-verification',
    summary: 'Send the verification email again; the response is the same for every email',
    answers: [{ data: done('accepted') }],
    refuses: ['AUTH_RATE_LIMITED'],
    ...forEveryone,
    session: 'none',
    body: emailInput,
    handler: async ({ shop, addressKey, now }, { body }) => {
      await resendVerification(shop, { email: body.email, addressKey }, now)
      return { data: { accepted: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/forgot-password',
    summary: 'Send a link to set a new password; the response is the same for every email',
    answers: [{ data: done('accepted') }],
    refuses: ['AUTH_RATE_LIMITED'],
    ...forEveryone,
    session: 'none',
    body: emailInput,
    handler: async ({ shop, addressKey, now }, { body }) => {
      await forgotPassword(shop, { email: body.email, addressKey }, now)
      return { data: { accepted: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/reset-password',
    summary: 'Set a new password with the token from the email; every session ends',
    answers: [{ data: done('reset') }],
    sends: { 'Set-Cookie': 'Removes the session, and marks a browser of this account.' },
    refuses: ['TOKEN_INVALID', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forEveryone,
    session: 'optional',
    body: resetPasswordInput,
    handler: async (call, { body }) => {
      const user = await resetPassword(call.shop, body, call, call.now)
      // The caller may be logged in to another account, whose session continues.
      const staysLoggedIn = call.identity !== null && call.identity.user.id !== user.id
      const cookies = [deviceCookie(call.shop, user, call.cookies)]
      return { data: { reset: true }, cookies: staysLoggedIn ? cookies : [endedSessionCookie(call.shop), ...cookies] }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/change-password',
    summary: 'Change the password; other sessions end, and this one gets a new cookie',
    answers: [{ data: done('changed') }],
    sends: { 'Set-Cookie': 'The new session, and the mark of a browser of this account.' },
    refuses: ['AUTH_INVALID_CREDENTIALS', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forUsers,
    body: changePasswordInput,
    handler: async (call, { body }) => {
      const { shop } = call
      const { user, session } = await changePassword(shop, body, call, call.now)
      return {
        data: { changed: true },
        cookies: [sessionCookie(shop, session.token, session.maxAgeSeconds), deviceCookie(shop, user, call.cookies)]
      }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/change-email',
    summary: 'Send a link to a new email of the account; the response is the same for every email',
    answers: [{ data: done('accepted') }],
    refuses: ['AUTH_INVALID_CREDENTIALS', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forUsers,
    body: changeEmailInput,
    handler: async (call, { body }) => {
      await requestEmailChange(call.shop, body, call, call.now)
      return { data: { accepted: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/confirm-email',
    summary:
      "Make an email the account's with the token from the email, in a browser of the account or with its password; sessions stay",
    answers: [{ data: done('changed') }],
    refuses: ['TOKEN_INVALID', 'AUTH_INVALID_CREDENTIALS', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forEveryone,
    session: 'optional',
    body: tokenInput,
    handler: async (call, { body }) => {
      await confirmEmailChange(call.shop, body, call, call.now)
      return { data: { changed: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/undo-email-change',
    summary:
      'Undo a change of the email with the token that the old address has got, and set a new password; every session ends',
    answers: [{ data: done('undone') }],
    sends: { 'Set-Cookie': 'The mark of a browser of this account.' },
    refuses: ['TOKEN_INVALID', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    ...forEveryone,
    session: 'none',
    body: resetPasswordInput,
    handler: async (call, { body }) => {
      const user = await undoEmailChange(call.shop, body, call, call.now)
      return { data: { undone: true }, cookies: [deviceCookie(call.shop, user, call.cookies)] }
    }
  }),
  route({
    method: 'POST',
    path: '/me/delete',
    summary: 'Erase the account for good; orders stay without personal data, and every session ends',
    answers: [{ data: done('deleted') }],
    sends: { 'Set-Cookie': 'Removes the session.' },
    refuses: [
      'AUTH_INVALID_CREDENTIALS',
      'AUTH_EMAIL_NOT_VERIFIED',
      'CONFLICT',
      'AUTH_RATE_LIMITED',
      'DEPENDENCY_UNAVAILABLE'
    ],
    ...forUsers,
    body: deleteAccountInput,
    handler: async (call, { body }) => {
      await deleteAccount(call.shop, body, call, call.now)
      return { data: { deleted: true }, cookies: [endedSessionCookie(call.shop)] }
    }
  }),
  route({
    method: 'PATCH',
    path: '/me',
    summary: 'Change the profile; null clears an optional field',
    answers: [{ data: meData }],
    refuses: ['RATE_LIMITED'],
    ...forUsers,
    body: profileInput,
    handler: async ({ shop, identity, now }, { body }) => {
      const user = await updateProfile(shop, identity.user.id, body, now)
      return { data: accountSummary(shop.db, user, { isLoggedIn: true }, now) }
    }
  })
]

export const downloadRoutes = [
  route({
    method: 'GET',
    path: '/me/downloads',
    summary: "The current user's downloads",
    answers: [{ data: downloadsData }],
    refuses: [],
    ...forUsers,
    handler: ({ shop, identity, now }) => ({
      data: { downloads: listDownloads(shop.db, shop.keys, identity.user.id, now) }
    })
  })
]

/** The change of the email that POST /auth/change-email has requested, until its link is used (docs/contract.md 5.25). */
export const emailChangeRoutes = [
  route({
    method: 'GET',
    path: '/me/email-change',
    summary: 'Whether the email is verified, and the change of it whose link was not used yet',
    answers: [{ data: emailChangeData }],
    refuses: [],
    ...forUsers,
    handler: ({ shop, identity, now }) => ({
      data: {
        pending: findPendingEmailChange(shop.db, identity.user.id, now),
        verified: identity.user.emailVerifiedAt !== null
      }
    })
  }),
  route({
    method: 'POST',
    path: '/me/email-change/resend',
    summary: 'Send the link of the pending change again; the earlier link ends',
    answers: [{ data: done('accepted') }],
    refuses: ['CONFLICT', 'AUTH_RATE_LIMITED'],
    ...forUsers,
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
    ...forUsers,
    handler: async ({ shop, identity, now }) => {
      await withdrawEmailChange(shop, identity.user.id, now)
      return { data: { withdrawn: true } }
    }
  })
]

/** The address of an account. GET /me stays what docs/interface.md 4.4 says, so the address has a path of its own. */
export const ownAddressRoutes = [
  route({
    method: 'GET',
    path: '/me/address',
    summary: "The address of the logged-in user's account, with which a checkout can start",
    answers: [{ data: ownAddressData }],
    refuses: [],
    ...forUsers,
    handler: ({ identity }) => ({ data: { address: identity.user.address } })
  }),
  route({
    method: 'POST',
    path: '/me/address',
    summary: 'Store the address of the account, by the rules of its country; null removes it',
    answers: [{ data: ownAddressData }],
    refuses: ['RATE_LIMITED'],
    ...forUsers,
    body: z.strictObject({ address: addressParts.nullable() }),
    handler: async ({ shop, identity, now }, { body }) => ({
      data: { address: await changeOwnAddress(shop, identity.user.id, body.address, now) }
    })
  })
]
