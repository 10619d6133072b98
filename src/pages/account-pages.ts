import { AppError } from '../errors.ts'
import { findIdentity } from '../api/server.ts'
import { rawPath, rawTarget } from '../platform/http/client-address.ts'
import { parseQuery } from '../platform/http/validation.ts'
import { deviceCookie } from '../shop/accounts/login.ts'
import { findUsableToken } from '../shop/accounts/email-tokens.ts'
import { getUserById } from '../shop/accounts/find.ts'
import { claimOrder, findClaim, needsPassword } from '../shop/customers/claim-order.ts'
import { confirmEmailChange, findEmailChange, undoEmailChange } from '../shop/customers/confirm-email-change.ts'
import { resetPassword } from '../shop/customers/reset-password.ts'
import { needsPasswordToVerify, verifyEmail } from '../shop/customers/verify-email.ts'
import type { LinkCaller, LinkInput } from '../shop/customers/use-email-link.ts'
import { translate } from '../shop/settings/translate.ts'
import { openPortal } from '../shop/subscriptions/own-subscriptions.ts'
import { readForm } from './page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, isOpen, shopPage, siteOf } from './shop-site.ts'
import { formView, message, sheet } from './storefront/form-view.ts'
import type { Blank, Field, Outcome } from './storefront/form-view.ts'
import type { ShownPage, Site } from './storefront/site.ts'
import type { TextKey } from '../platform/texts/languages.ts'

// A link only shows a page, and the form on it uses the token: mail scanners open every link that they find, but send no
// forms (RFC 9110 9.2.1).

export const accountPages: readonly PageRoute[] = [
  { method: 'GET', path: /^\/account\/verify$/, name: '/account/verify', handle: showVerify },
  { method: 'POST', path: /^\/account\/verify$/, name: '/account/verify', handle: verify },
  {
    method: 'GET',
    path: /^\/account\/verify\/done$/,
    name: '/account/verify/done',
    handle: (call) => over(call, 'emailLink.verified', 'emailLink.verifiedText', 'login')
  },
  { method: 'GET', path: /^\/account\/reset$/, name: '/account/reset', handle: showReset },
  { method: 'POST', path: /^\/account\/reset$/, name: '/account/reset', handle: reset },
  {
    method: 'GET',
    path: /^\/account\/reset\/done$/,
    name: '/account/reset/done',
    handle: (call) => over(call, 'emailLink.passwordChanged', 'emailLink.passwordChangedText', 'login')
  },
  { method: 'GET', path: /^\/account\/email$/, name: '/account/email', handle: showNewEmail },
  { method: 'POST', path: /^\/account\/email$/, name: '/account/email', handle: confirmNewEmail },
  {
    method: 'GET',
    path: /^\/account\/email\/done$/,
    name: '/account/email/done',
    handle: (call) => over(call, 'emailLink.emailChanged', 'emailLink.emailChangedText', 'account')
  },
  { method: 'GET', path: /^\/account\/email\/undo$/, name: '/account/email/undo', handle: showUndo },
  { method: 'POST', path: /^\/account\/email\/undo$/, name: '/account/email/undo', handle: undo },
  { method: 'GET', path: /^\/account\/claim$/, name: '/account/claim', handle: showClaim },
  { method: 'POST', path: /^\/account\/claim$/, name: '/account/claim', handle: claim },
  {
    method: 'GET',
    path: /^\/account\/claim\/done$/,
    name: '/account/claim/done',
    handle: (call) => over(call, 'emailLink.claimed', 'emailLink.claimedText', 'login')
  },
  {
    method: 'GET',
    path: /^\/account\/subscriptions\/([1-9]\d{0,14})\/manage$/,
    name: '/account/subscriptions/:id/manage',
    handle: manageSubscription
  }
]

/** A page with the navigation of the storefront, if there is one. */
function page({ app, request, now }: PageCall, shown: ShownPage): PageReply {
  const isSignedIn = findIdentity(app, request, now) !== null
  return shopPage(app, shown, { hasNav: isOpen(app), path: rawPath(rawTarget(request)), isSignedIn })
}

/** Where a page without a form leads. Another site has pages of its own, which are not known here. */
const places = {
  login: { label: 'link.logIn', url: '/login' },
  forgot: { label: 'emailLink.askAgain', url: '/forgot-password' },
  account: { label: 'myAccount', url: '/account' }
} as const

/** A page after a link was used. */
function over(call: PageCall, title: TextKey, text: TextKey, place: keyof typeof places): PageReply {
  const { t } = siteOf(call.app)
  const { label, url } = places[place]
  const links = isOpen(call.app) ? [{ label: t(label), url }] : homeLinks(call.app)
  return page(call, message(t(title), t(text), links))
}

/** The page for a link that was used, has expired, or was never sent. */
function gone(call: PageCall, text: TextKey, place: keyof typeof places): PageReply {
  return { ...over(call, 'emailLink.over', text, place), status: 410 }
}

function verifyOver(call: PageCall): PageReply {
  return gone(call, 'emailLink.verifyOver', 'login')
}

function resetOver(call: PageCall): PageReply {
  return gone(call, 'emailLink.resetOver', 'forgot')
}

function emailOver(call: PageCall): PageReply {
  return gone(call, 'emailLink.emailOver', 'account')
}

function showVerify(call: PageCall): PageReply {
  return verifyForm(call, tokenOf(call.request), {})
}

function verify(call: PageCall): Promise<PageReply> {
  return useLink(call, verifyForm, verifyOver, async (input, caller) => {
    await verifyEmail(call.app, input, caller, call.now)
    // Another address, so that a reload does not send the used token again.
    return { redirect: '/account/verify/done' }
  })
}

function verifyForm(call: PageCall, token: string, outcome: Outcome): PageReply {
  const found = needsPasswordToVerify(call.app, token, callerOf(call), call.now)
  if (found === undefined) return verifyOver(call)
  const { t } = siteOf(call.app)
  const { needed, email } = found
  const text = needed ? t('emailLink.verifyPassword', { email }) : t('emailLink.verifyText')
  const form = { action: 'verify', submit: t('account.verify'), to: '/account/verify' }
  return linkForm(
    call,
    { title: 'emailLink.verify', text, form, token, email, field: needed ? newPassword : null },
    outcome
  )
}

function showNewEmail(call: PageCall): PageReply {
  return newEmailForm(call, tokenOf(call.request), {})
}

function confirmNewEmail(call: PageCall): Promise<PageReply> {
  return useLink(call, newEmailForm, emailOver, async (input, caller) => {
    await confirmEmailChange(call.app, input, caller, call.now)
    return { redirect: '/account/email/done' }
  })
}

function newEmailForm(call: PageCall, token: string, outcome: Outcome): PageReply {
  const found = findEmailChange(call.app, token, callerOf(call), call.now)
  if (found === undefined) return emailOver(call)
  const { t } = siteOf(call.app)
  const { needed, email } = found
  const words = [t('emailLink.useEmailText', { email }), ...(needed ? [t('emailLink.useEmailPassword')] : [])]
  const form = { action: 'use', submit: t('emailLink.useEmail'), to: '/account/email' }
  const field = needed ? currentPassword : null
  return linkForm(call, { title: 'emailLink.useEmail', text: words.join(' '), form, token, email, field }, outcome)
}

function showUndo(call: PageCall): PageReply {
  return undoForm(call, tokenOf(call.request), {})
}

function undo(call: PageCall): Promise<PageReply> {
  return useLink(call, undoForm, emailOver, async (input, caller) => {
    const user = await undoEmailChange(call.app, input, caller, call.now)
    return { redirect: '/account/reset/done', setCookie: deviceCookie(call.app, user, caller.cookies) }
  })
}

function undoForm(call: PageCall, token: string, outcome: Outcome): PageReply {
  const row = findUsableToken(call.app.db, 'undo', token, call.now)
  if (row === undefined) return emailOver(call)
  const { t } = siteOf(call.app)
  const email = row.newEmail ?? ''
  const form = { action: 'undo', submit: t('emailLink.undoEmail'), to: '/account/email/undo' }
  const text = t('emailLink.undoEmailText', { email })
  return linkForm(call, { title: 'emailLink.undoEmail', text, form, token, email, field: newPassword }, outcome)
}

function showReset(call: PageCall): PageReply {
  return resetForm(call, tokenOf(call.request), {})
}

function reset(call: PageCall): Promise<PageReply> {
  return useLink(call, resetForm, resetOver, async (input, caller) => {
    const user = await resetPassword(call.app, input, caller, call.now)
    return { redirect: '/account/reset/done', setCookie: deviceCookie(call.app, user, caller.cookies) }
  })
}

/** Shows the account's email for password managers. The holder of the token can read that email anyway. */
function resetForm(call: PageCall, token: string, outcome: Outcome): PageReply {
  const row = findUsableToken(call.app.db, 'reset', token, call.now)
  if (row === undefined) return resetOver(call)
  const { email } = getUserById(call.app.db, row.userId)
  const { t } = siteOf(call.app)
  const form = { action: 'reset', submit: t('emailLink.setPassword'), to: '/account/reset' }
  const text = t('emailLink.forAccount', { email })
  return linkForm(call, { title: 'emailLink.newPassword', text, form, token, email, field: newPassword }, outcome)
}

type LinkPage = {
  title: TextKey
  text: string
  form: Pick<Blank, 'action' | 'submit' | 'to'>
  token: string
  /** The account's email, for password managers. */
  email: string
  field: ((site: Site) => Field) | null
}

function linkForm(call: PageCall, { title, text, form, token, email, field }: LinkPage, outcome: Outcome): PageReply {
  const { status = 200, ...rest } = outcome
  const site = siteOf(call.app)
  const blank = { ...form, rows: field === null ? [] : [[field(site)]], hidden: { username: email, token } }
  return page(call, sheet(status, site.t(title), { text, form: formView(blank, rest), links: [] }))
}

/** Uses a link by its form, and shows the form again when its password is missing, wrong or too weak. */
async function useLink(
  call: PageCall,
  again: (call: PageCall, token: string, outcome: Outcome) => PageReply,
  over: (call: PageCall) => PageReply,
  use: (input: LinkInput, caller: LinkCaller) => Promise<PageReply>
): Promise<PageReply> {
  const form = await readForm(call.request)
  const [token, password] = [form.get('token') ?? '', form.get('password') || undefined]
  const refuse = (status: number, error: string) => again(call, token, { status, refused: { password: [error] } })
  try {
    return await use({ token, password }, callerOf(call))
  } catch (error) {
    if (isCode(error, 'TOKEN_INVALID')) return over(call)
    if (isCode(error, 'VALIDATION_FAILED')) return refuse(422, siteOf(call.app).t('emailLink.enterPassword'))
    if (isCode(error, 'PASSWORD_POLICY_VIOLATION') || isCode(error, 'AUTH_INVALID_CREDENTIALS'))
      return refuse(error.status, translate(call.app, error.message))
    throw error
  }
}

function callerOf({ app, request, addressKey, now }: PageCall): LinkCaller & { cookies: string | null } {
  return { addressKey, identity: findIdentity(app, request, now), cookies: request.headers.get('cookie') }
}

function showClaim(call: PageCall): PageReply {
  return claimForm(call, tokenOf(call.request), {})
}

function claim(call: PageCall): Promise<PageReply> {
  return useLink(call, claimForm, claimOver, async ({ token, password = '' }, caller) => {
    try {
      await claimOrder(call.app, { token, password }, caller, call.now)
      return { redirect: '/account/claim/done' }
    } catch (error) {
      if (!isCode(error, 'AUTH_ACCOUNT_DEACTIVATED')) throw error
      return { ...over(call, 'emailLink.over', 'emailLink.deactivated', 'login'), status: error.status }
    }
  })
}

function claimOver(call: PageCall): PageReply {
  return gone(call, 'emailLink.claimOver', 'login')
}

function claimForm(call: PageCall, token: string, outcome: Outcome): PageReply {
  const found = findClaim(call.app, token, call.now)
  if (found === undefined) return claimOver(call)
  const { t } = siteOf(call.app)
  const { email, order } = found
  const isNew = needsPassword(found)
  const submit = t(isNew ? 'emailLink.setPassword' : 'emailLink.claimAdd')
  const form = { action: 'claim', submit, to: '/account/claim' }
  const text = t(isNew ? 'emailLink.claimText' : 'emailLink.claimKnown', { id: order.id, email })
  const field = isNew ? newPassword : null
  return linkForm(call, { title: 'emailLink.claim', text, form, token, email, field }, outcome)
}

function newPassword({ t, minLength }: Site): Field {
  const hint = t('atLeastWords', { count: minLength })
  return {
    name: 'password',
    label: t('newPassword'),
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    hint
  }
}

function currentPassword({ t }: Site): Field {
  return { name: 'password', label: t('password'), type: 'password', autocomplete: 'current-password', required: true }
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
