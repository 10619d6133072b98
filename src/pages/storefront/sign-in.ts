import { isShopError } from '../../client/client.ts'
import { formView, message, outcomeOf, sheet } from './form-view.ts'
import type { Field, Outcome } from './form-view.ts'
import { trackingOf } from './cart-order.ts'
import type { Shown, ShownPage, Site, Visit } from './site.ts'

/** The page to log in. Pages of one person lead here, and the login leads back to them, as it does for a logged-in visitor. */
export async function showLogin(visit: Visit): Promise<Shown> {
  return (await leadOn(visit)) ?? loginPage(visit.site, visit.query, {})
}

/** Where a visitor who is logged in already goes on; undefined for others. */
async function leadOn({ client, query }: Visit): Promise<Shown | undefined> {
  const { userLoggedIn } = await client.get('/nonce')
  return userLoggedIn ? { redirect: ownPathOf(query.get('next'), '/account') } : undefined
}

/** Logs in and leads on, or sends the link that verifies the email again. */
export async function logIn(visit: Visit): Promise<Shown> {
  const { client, site, query } = visit
  const { t } = site
  const form = await visit.form()
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
  try {
    if (form.get('action') === 'resend') {
      await client.post('/auth/resend-verification', { email })
      return loginPage(site, query, { typed: { email }, notice: t('login.sent') })
    }
    // People also enter a user name, which the service accepts only in `username`.
    const name = email.includes('@') ? { email } : { username: email }
    await client.post('/auth/login', { ...name, password, rememberMe: form.has('rememberMe') })
    return { redirect: ownPathOf(query.get('next'), '/account') }
  } catch (error) {
    const { refused, ...outcome } = outcomeOf(error, form)
    if (isShopError(error, 'AUTH_EMAIL_NOT_VERIFIED')) {
      const remedy = { action: 'resend', label: t('login.sendAgain') }
      return loginPage(site, query, { ...outcome, error: t('login.verify'), remedy })
    }
    const { username, ...others } = refused
    return loginPage(site, query, { ...outcome, refused: username === undefined ? others : { email: username } })
  }
}

function loginPage({ t }: Site, query: URLSearchParams, { status = 200, ...outcome }: Outcome): ShownPage {
  const next = ownPathOf(query.get('next'), '/')
  const isNeeded = /^\/(account|orders|referrals)\b/.test(next)
  const rows: Field[][] = [
    [{ name: 'email', label: t('email'), type: 'email', autocomplete: 'username', required: true }],
    [{ name: 'password', label: t('password'), type: 'password', autocomplete: 'current-password', required: true }],
    [{ name: 'rememberMe', label: t('rememberMe'), type: 'tick' }]
  ]
  const links = [
    { label: t('forgot'), url: '/forgot-password' },
    { label: t('link.register'), url: withNext('/register', next === '/' ? null : next) }
  ]
  const form = formView({ action: 'login', submit: t('link.logIn'), rows }, outcome)
  const text = isNeeded ? t('page.logInText') : null
  return sheet(status, t(isNeeded ? 'page.logIn' : 'link.logIn'), { text, form, links })
}

/** The page to create an account. It leads on as the login does. */
export async function showRegister(visit: Visit): Promise<Shown> {
  return (await leadOn(visit)) ?? registerPage(visit.site, visit.query, {})
}

/** Creates an account, and logs in unless the email has to be verified first. */
export async function register(visit: Visit): Promise<Shown> {
  const { client, site, query } = visit
  const { t } = site
  const form = await visit.form()
  const text = (name: string): string => form.get(name) ?? ''
  const values = {
    displayName: text('displayName'),
    email: text('email'),
    password: text('password'),
    // The API refuses the form without it.
    acceptTerms: form.has('acceptTerms') as true,
    marketingOptIn: form.has('marketingOptIn')
  }
  try {
    const { ref, campaign } = trackingOf(visit, form)
    const query = { ...(ref && { ref }), ...(ref && campaign && { campaign }) }
    const { data, meta } = await client.request('POST', '/auth/register', { body: values, query })
    if (meta.nextStep !== 'VERIFY_EMAIL') return { redirect: ownPathOf(visit.query.get('next'), '/account') }
    const links = [{ label: t('link.logIn'), url: '/login' }]
    return message(t('register.almost'), t('register.sent', { email: data.user.email }), links)
  } catch (error) {
    return registerPage(site, query, outcomeOf(error, form))
  }
}

function registerPage(
  { t, minLength }: Site,
  query: URLSearchParams,
  { status = 200, ...outcome }: Outcome
): ShownPage {
  const hint = t('atLeastWords', { count: minLength })
  const rows: Field[][] = [
    [{ name: 'displayName', label: t('yourName'), autocomplete: 'name', required: true }],
    [{ name: 'email', label: t('email'), type: 'email', autocomplete: 'email', required: true }],
    [{ name: 'password', label: t('password'), type: 'password', autocomplete: 'new-password', required: true, hint }],
    [{ name: 'acceptTerms', label: t('acceptTerms'), type: 'tick', required: true }],
    [{ name: 'marketingOptIn', label: t('newsByEmail'), type: 'tick' }]
  ]
  const links = [{ label: t('haveAlready'), url: withNext('/login', ownPathOf(query.get('next'), '/account')) }]
  const form = formView({ action: 'register', submit: t('createMine'), rows, hidden: { tracking: '' } }, outcome)
  return sheet(status, t('link.register'), { text: null, form, links })
}

/** The page to ask for a link that sets a new password. */
export function showForgot({ site }: Visit): ShownPage {
  return forgotPage(site, {})
}

/** Sends a link for a new password. */
export async function sendReset(visit: Visit): Promise<ShownPage> {
  const { client, site } = visit
  const { t } = site
  const form = await visit.form()
  try {
    await client.post('/auth/forgot-password', { email: form.get('email') ?? '' })
    return message(t('forgot.check'), t('forgot.sent'), [{ label: t('forgot.back'), url: '/login' }])
  } catch (error) {
    return forgotPage(site, outcomeOf(error, form))
  }
}

function forgotPage({ t }: Site, { status = 200, ...outcome }: Outcome): ShownPage {
  const rows: Field[][] = [
    [{ name: 'email', label: t('email'), type: 'email', autocomplete: 'username', required: true }]
  ]
  const form = formView({ action: 'send', submit: t('sendLink'), rows }, outcome)
  return sheet(status, t('forgot'), {
    text: t('forgotText'),
    form,
    links: [{ label: t('forgot.back'), url: '/login' }]
  })
}

/** A page to which a login leads back. */
export function withNext(path: string, next: string | null): string {
  return next === null ? path : `${path}?next=${encodeURIComponent(next)}`
}

/** A path of this site; `otherwise` for anything else, such as `//evil.example`. */
export function ownPathOf(next: string | null, otherwise: string): string {
  const site = 'http://this.invalid'
  if (next === null || !next.startsWith('/') || next.length > 500) return otherwise
  // Parsed like a browser does, which drops tabs and reads backslashes as slashes: `/<tab>/evil.example` is another site.
  const url = URL.parse(next, site)
  const path = url?.href.slice(site.length) ?? ''
  return url?.origin === site && !path.startsWith('//') ? path : otherwise
}
