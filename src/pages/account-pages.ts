import { AppError } from '../errors.ts'
import { findIdentity } from '../api/identity.ts'
import { rawPath, rawTarget } from '../platform/http/request.ts'
import { parseQuery } from '../platform/http/validation.ts'
import { deviceCookie } from '../shop/accounts/device-cookie.ts'
import { findUsableToken } from '../shop/accounts/email-tokens.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { confirmEmailChange } from '../shop/customers/confirm-email-change.ts'
import { resetPassword } from '../shop/customers/reset-password.ts'
import { verifyEmail } from '../shop/customers/verify-email.ts'
import { setting } from '../shop/settings/settings.ts'
import { openPortal } from '../shop/subscriptions/own-subscriptions.ts'
import { readForm } from './read-form.ts'
import { messagePage } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks } from './shop-home.ts'
import { isOpen } from './storefront-settings.ts'

// A link only shows a page, and the form on it uses the token: mail scanners open every link that they find, but send no
// forms (RFC 9110 9.2.1).

export const accountPages: readonly PageRoute[] = [
  { method: 'GET', path: /^\/account\/verify$/, name: '/account/verify', handle: showVerify },
  { method: 'POST', path: /^\/account\/verify$/, name: '/account/verify', handle: verify },
  { method: 'GET', path: /^\/account\/verify\/done$/, name: '/account/verify/done', handle: verified },
  { method: 'GET', path: /^\/account\/reset$/, name: '/account/reset', handle: showReset },
  { method: 'POST', path: /^\/account\/reset$/, name: '/account/reset', handle: reset },
  { method: 'GET', path: /^\/account\/reset\/done$/, name: '/account/reset/done', handle: changed },
  { method: 'GET', path: /^\/account\/email$/, name: '/account/email', handle: showNewEmail },
  { method: 'POST', path: /^\/account\/email$/, name: '/account/email', handle: confirmNewEmail },
  { method: 'GET', path: /^\/account\/email\/done$/, name: '/account/email/done', handle: emailChanged },
  {
    method: 'GET',
    path: /^\/account\/subscriptions\/([1-9]\d{0,14})\/manage$/,
    name: '/account/subscriptions/:id/manage',
    handle: manageSubscription
  }
]

function verified({ app }: PageCall): PageReply {
  return messagePage(200, 'Your email is verified', ['Thank you. You can log in now.'], loginLinks(app))
}

function changed({ app }: PageCall): PageReply {
  const text = 'You can now log in with your new password. All other devices have been logged out.'
  return messagePage(200, 'Your password has been changed', [text], loginLinks(app))
}

const wasUsed = 'It has been used or has expired, or a newer link was sent.'

function verifyOver({ app }: PageCall): PageReply {
  const text = 'If you have already verified your email, log in. Otherwise request a new link on the login page.'
  return messagePage(410, 'This link no longer works', [wasUsed, text], loginLinks(app))
}

function resetOver({ app }: PageCall): PageReply {
  const text = 'If you still need a new password, request another link.'
  const ask = { label: 'Request a new link', url: '/forgot-password' }
  return messagePage(410, 'This link no longer works', [wasUsed, text], isOpen(app) ? [ask] : homeLinks(app))
}

/** The login page of the storefront; another site has its own, which is not known here. */
function loginLinks(app: PageCall['app']): { label: string; url: string }[] {
  return isOpen(app) ? [{ label: 'Log in', url: '/login' }] : homeLinks(app)
}

function showVerify(call: PageCall): PageReply {
  const { app, request, now } = call
  const token = tokenOf(request)
  if (findUsableToken(app.db, 'verify', token, now) === undefined) return verifyOver(call)
  return { status: 200, template: 'verify', title: 'Verify your email', data: { token } }
}

async function verify(call: PageCall): Promise<PageReply> {
  const { app, request, addressKey, now } = call
  const form = await readForm(request)
  try {
    await verifyEmail(app, form.get('token') ?? '', { addressKey }, now)
    // Another address, so that a reload does not send the used token again.
    return { redirect: '/account/verify/done' }
  } catch (error) {
    if (isCode(error, 'TOKEN_INVALID')) return verifyOver(call)
    throw error
  }
}

function emailChanged({ app }: PageCall): PageReply {
  const links = isOpen(app) ? [{ label: 'My account', url: '/account' }] : homeLinks(app)
  return messagePage(200, 'Your email has been changed', ['Use the new email from now on to log in.'], links)
}

function newEmailOver({ app }: PageCall): PageReply {
  const text = 'If you still want to change your email, log in and enter it in your account again.'
  const links = isOpen(app) ? [{ label: 'My account', url: '/account' }] : homeLinks(app)
  return messagePage(410, 'This link no longer works', [wasUsed, text], links)
}

function showNewEmail(call: PageCall): PageReply {
  const token = tokenOf(call.request)
  const row = findUsableToken(call.app.db, 'email', token, call.now)
  if (row === undefined) return newEmailOver(call)
  return { status: 200, template: 'new-email', title: 'Use this email', data: { token, email: row.newEmail } }
}

async function confirmNewEmail(call: PageCall): Promise<PageReply> {
  const { app, request, addressKey, now } = call
  const form = await readForm(request)
  try {
    await confirmEmailChange(app, form.get('token') ?? '', { addressKey }, now)
    return { redirect: '/account/email/done' }
  } catch (error) {
    if (isCode(error, 'TOKEN_INVALID')) return newEmailOver(call)
    throw error
  }
}

function showReset(call: PageCall): PageReply {
  return resetForm(call, tokenOf(call.request), 200, null)
}

async function reset(call: PageCall): Promise<PageReply> {
  const { app, request, addressKey, now } = call
  const form = await readForm(request)
  const token = form.get('token') ?? ''
  const password = form.get('password') ?? ''
  if (password === '') return resetForm(call, token, 422, 'Please enter a new password.')
  try {
    const user = await resetPassword(app, { token, password }, { addressKey }, now)
    return { redirect: '/account/reset/done', setCookie: deviceCookie(app, user, request.headers.get('cookie')) }
  } catch (error) {
    if (isCode(error, 'TOKEN_INVALID')) return resetOver(call)
    if (isCode(error, 'PASSWORD_POLICY_VIOLATION')) return resetForm(call, token, error.status, error.message)
    throw error
  }
}

/** Shows the account's email for password managers. The holder of the token can read that email anyway. */
function resetForm(call: PageCall, token: string, status: number, error: string | null): PageReply {
  const { app, now } = call
  const row = findUsableToken(app.db, 'reset', token, now)
  if (row === undefined) return resetOver(call)
  const { email } = getUserById(app.db, row.userId)
  const minLength = setting(app.db, 'registration.passwordMinLength')
  return { status, template: 'reset', title: 'Choose a new password', data: { token, email, minLength, error } }
}

/**
 * Leads the holder of a subscription to the gateway's billing portal. The session of the portal is created now, so the
 * address of this page can be in an email or in a list without giving access to anything.
 */
async function manageSubscription({ app, request, param, now }: PageCall): Promise<PageReply> {
  const identity = findIdentity(app, request, now)
  const hasStorefront = isOpen(app)
  if (identity === null) {
    if (!hasStorefront) throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
    return { redirect: `/login?next=${encodeURIComponent(rawPath(rawTarget(request)))}` }
  }
  const returnUrl = hasStorefront ? `${app.publicUrl()}/account` : null
  return { redirect: await openPortal(app, identity.user.id, Number(param), returnUrl) }
}

function tokenOf(request: Request): string {
  return parseQuery(rawTarget(request)).get('token') ?? ''
}

function isCode(error: unknown, code: AppError['code']): error is AppError {
  return error instanceof AppError && error.code === code
}
