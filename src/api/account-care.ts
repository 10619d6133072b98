import { changePassword } from '../shop/accounts/change-password.ts'
import {
  changeEmailInput,
  changePasswordInput,
  deleteAccountInput,
  emailInput,
  profileInput,
  resetPasswordInput,
  tokenInput
} from '../shop/accounts/input.ts'
import { forgotPassword, resendVerification } from '../shop/accounts/recover.ts'
import { requestEmailChange } from '../shop/accounts/request-email-change.ts'
import { updateProfile } from '../shop/accounts/update-profile.ts'
import { confirmEmailChange } from '../shop/customers/confirm-email-change.ts'
import { deleteAccount } from '../shop/customers/delete-account.ts'
import { resetPassword } from '../shop/customers/reset-password.ts'
import { verifyEmail } from '../shop/customers/verify-email.ts'
import { accountSummary } from '../shop/entitlements/entitlements.ts'
import { done, meData } from './answers/account.ts'
import { route } from './route.ts'
import { deviceCookie } from '../shop/accounts/device-cookie.ts'
import { endedSessionCookie, sessionCookie } from '../shop/accounts/session-cookie.ts'

const proxied = { nonce: true, query: [] } as const

/** Endpoints to verify, recover and change an account (docs/contract.md A5). */
export const accountCareRoutes = [
  route({
    method: 'POST',
    path: '/auth/verify-email',
    summary: 'Verify an email with the token from the verification email',
    answers: [{ data: done('verified') }],
    refuses: ['TOKEN_INVALID', 'AUTH_RATE_LIMITED'],
    session: 'none',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    body: tokenInput,
    handler: async (call, { body }) => {
      await verifyEmail(call.shop, body.token, call, call.now)
      return { data: { verified: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/resend-verification',
    summary: 'Send the verification email again; the response is the same for every email',
    answers: [{ data: done('accepted') }],
    refuses: ['AUTH_RATE_LIMITED'],
    session: 'none',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
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
    session: 'none',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
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
    refuses: ['TOKEN_INVALID', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'optional',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
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
    refuses: ['AUTH_INVALID_CREDENTIALS', 'PASSWORD_POLICY_VIOLATION', 'AUTH_RATE_LIMITED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
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
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    body: changeEmailInput,
    handler: async (call, { body }) => {
      await requestEmailChange(call.shop, body, call, call.now)
      return { data: { accepted: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/confirm-email',
    summary: "Make an email the account's with the token from the email; sessions stay",
    answers: [{ data: done('changed') }],
    refuses: ['TOKEN_INVALID', 'AUTH_RATE_LIMITED'],
    session: 'none',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    body: tokenInput,
    handler: async (call, { body }) => {
      await confirmEmailChange(call.shop, body.token, call, call.now)
      return { data: { changed: true } }
    }
  }),
  route({
    method: 'POST',
    path: '/me/delete',
    summary: 'Erase the account for good; orders stay without personal data, and every session ends',
    answers: [{ data: done('deleted') }],
    refuses: [
      'AUTH_INVALID_CREDENTIALS',
      'AUTH_EMAIL_NOT_VERIFIED',
      'CONFLICT',
      'AUTH_RATE_LIMITED',
      'DEPENDENCY_UNAVAILABLE'
    ],
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
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
    session: 'required',
    nonce: 'never',
    proxy: proxied,
    invalid: 422,
    body: profileInput,
    handler: async ({ shop, identity, now }, { body }) => {
      const user = await updateProfile(shop, identity.user.id, body, now)
      return { data: accountSummary(shop.db, user, { isLoggedIn: true }, now) }
    }
  })
]
