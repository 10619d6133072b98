import { z } from 'zod'
import type { StartedSession } from '../shop/accounts/sessions.ts'
import { proxyPrefix } from '../platform/http/cross-site.ts'
import { toIso } from '../platform/iso-time.ts'
import { loginInput, registerInput } from '../shop/accounts/input.ts'
import { login } from '../shop/accounts/login.ts'
import { logout } from '../shop/accounts/logout.ts'
import { issueNonce } from '../shop/accounts/nonce.ts'
import { assertRegistrationOpen, register } from '../shop/accounts/register.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { toUser } from '../shop/accounts/view.ts'
import { accountSummary } from '../shop/entitlements/entitlements.ts'
import { rolesOf } from '../shop/entitlements/roles.ts'
import { done, meData, nonceData, pendingData, startedData } from './answers/account.ts'
import { time } from './answers/fields.ts'
import { route } from './route.ts'
import type { Call } from './route.ts'
import { deviceCookie } from '../shop/accounts/device-cookie.ts'
import { endedSessionCookie, sessionCookie } from '../shop/accounts/session-cookie.ts'

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
    proxy: { nonce: true, query: [] },
    invalid: 422,
    gate: ({ shop }) => assertRegistrationOpen(shop),
    body: registerInput,
    handler: async (call, { body }) => {
      const { user, session, expiresAt } = await register(call.shop, body, call, call.now)
      if (session !== null)
        return { ...startedReply(call, user, session), status: 201, meta: { extend: { nextStep: 'NONE' } } }
      return {
        status: 201,
        data: { ...identityData(call, user, { isLoggedIn: false }), registrationStatus: 'pending_verification' },
        meta: { extend: { nextStep: 'VERIFY_EMAIL', expiresAt: toIso(expiresAt) } }
      }
    }
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Start a session',
    answers: [{ data: startedData }],
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
    refuses: [],
    session: 'optional',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 422,
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
