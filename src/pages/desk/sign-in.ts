import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { TextKey } from '../../platform/texts/languages.ts'
import { addPasskey, newPasskeyRequest, passkeyRequest, usePasskey } from '../../shop/desk/passkeys.ts'
import type { Visitor } from '../../shop/desk/passkeys.ts'
import { assertPointsLeft, countFailure } from '../../shop/limits/points.ts'
import { setting } from '../../shop/settings/settings.ts'
import { loadAssets } from '../assets.ts'
import { readForm } from '../page.ts'
import type { HtmlReply, PageReply } from '../page.ts'
import { siteOf } from '../shop-site.ts'
import { ownPathOf } from '../storefront/sign-in.ts'
import { deskCookie } from './access.ts'
import type { DeskAccess } from './access.ts'
import { frame } from './view.ts'
import type { DeskCall, Visit } from './view.ts'

/** A request before its person is known. */
export type Arrival = {
  app: App
  access: DeskAccess
  request: Request
  now: number
  path: string
  query: URLSearchParams
  visitor: Visitor
}

/** The pages for who is not logged in; undefined for every other path. */
export function publicDesk(arrival: Arrival): PageReply | Promise<PageReply> | undefined {
  const { access, path, request } = arrival
  const isWrite = request.method === 'POST'
  if (!isWrite && request.method !== 'GET' && request.method !== 'HEAD') return undefined
  if (path === '/desk/manifest.webmanifest' && !isWrite) return manifest(arrival)
  if (path === '/desk/open' && !access.hasPasskeys) return isWrite ? openByLink(arrival) : openPage(arrival)
  if (!access.hasPasskeys) return undefined
  if (path === '/desk/login') return isWrite ? logIn(arrival) : loginPage(arrival)
  if (path === '/desk/invitation') return isWrite ? acceptInvitation(arrival) : invitationPage(arrival)
  return undefined
}

function manifest({ app }: Arrival): PageReply {
  const { name, t, lang } = siteOf(app)
  const icons = [{ src: loadAssets().urls.icon, sizes: 'any', type: 'image/svg+xml' }]
  const text = JSON.stringify({
    name: `${name} · ${t('desk')}`,
    short_name: name,
    lang,
    id: '/desk',
    start_url: '/desk',
    scope: '/desk',
    display: 'standalone',
    icons
  })
  return { text, type: 'application/manifest+json', isPrivate: true }
}

type PasskeyForm = {
  title: TextKey
  /** What the person confirms by the passkey. */
  question?: string | null
  text: string
  to: string
  use: 'create' | 'get'
  options: object
  submit: TextKey
  hidden?: Iterable<[string, string]>
  cancel?: string
  command?: string
  error?: string | undefined
  status?: number
}

/** A page with a button that makes or uses a passkey. */
export function passkeyPage(app: App, visit: Visit | null, path: string, form: PasskeyForm): HtmlReply {
  const { t } = siteOf(app)
  const { title, submit, status = 200, question = null, cancel = null, command = null, error = null, ...rest } = form
  const data = { ...rest, question, submit: t(submit), hidden: [...(form.hidden ?? [])], cancel, command, error }
  return {
    status,
    template: 'desk-passkey',
    title: t(title),
    script: 'passkey',
    headers: { 'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)' },
    data: { ...frame(app, t(title), { visit, path }), ...data }
  }
}

function loginPage({ app, now, query, path }: Arrival, error?: AppError): PageReply {
  return passkeyPage(app, null, path, {
    title: 'desk.login',
    text: siteOf(app).t('desk.loginText'),
    to: '/desk/login',
    use: 'get',
    options: passkeyRequest(app, null, now),
    submit: 'desk.usePasskey',
    hidden: [['next', query.get('next') ?? '/desk']],
    ...failed(app, error)
  })
}

function failed(app: App, error?: AppError): { error?: string; status?: number } {
  if (error === undefined) return {}
  const isKnown = error.code === 'NOT_AUTHENTICATED'
  return { error: isKnown ? siteOf(app).t('desk.refusedPasskey') : error.message, status: error.status }
}

async function logIn(arrival: Arrival): Promise<PageReply> {
  const { app, now } = arrival
  const form = await readForm(arrival.request)
  const next = ownPathOf(form.get('next'), '/desk')
  try {
    const token = await usePasskey(app, null, form.get('credential') ?? '', arrival.visitor, now)
    return { redirect: next.startsWith('/desk') ? next : '/desk', setCookie: deskCookie(app, token) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return loginPage({ ...arrival, query: new URLSearchParams({ next }) }, error)
  }
}

/** Reads the link only: programs that open every link of an email do not use it up. */
async function invitationPage(
  arrival: Arrival,
  token = arrival.query.get('token') ?? '',
  error?: AppError
): Promise<PageReply> {
  const { app, now, path, visitor } = arrival
  const counter = { bucket: 'desk_ip', key: visitor.addressKey } as const
  assertPointsLeft(app, 'AUTH_RATE_LIMITED', counter)
  const { t } = siteOf(app)
  try {
    return passkeyPage(app, null, path, {
      title: 'desk.invitation',
      text: t('desk.invitationText', { shop: setting(app.db, 'shop.name') }),
      to: '/desk/invitation',
      use: 'create',
      options: newPasskeyRequest(app, { token }, now),
      submit: 'desk.makePasskey',
      hidden: [['token', token]],
      ...failed(app, error)
    })
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'TOKEN_INVALID') throw cause
    await countFailure(app, counter)
    const data = {
      ...frame(app, t('emailLink.over'), { visit: null, path }),
      blocks: [{ kind: 'text', text: t('desk.invitationOver') }]
    }
    return { status: 410, template: 'desk', title: t('emailLink.over'), data }
  }
}

async function acceptInvitation(arrival: Arrival): Promise<PageReply> {
  const { app, request, now } = arrival
  const form = await readForm(request)
  const token = form.get('token') ?? ''
  try {
    const session = await addPasskey(app, { token }, form.get('credential') ?? '', arrival.visitor, now)
    return { redirect: '/desk', setCookie: deskCookie(app, session) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return invitationPage(arrival, token, error)
  }
}

/** Asks for a use of the passkey before what is guarded, and sends the form again with it. */
export function proofPage(
  { app, visit, path, now, words, nonce }: DeskCall,
  { command, form, question }: { command: string; form: URLSearchParams; question: string | null }
): PageReply {
  const kept = [...form].filter(([name]) => name !== 'nonce' && name !== 'credential')
  return passkeyPage(app, visit, path, {
    title: 'desk.proof',
    question,
    text: words.t('desk.proofText'),
    to: path,
    use: 'get',
    options: passkeyRequest(app, visit.session, now),
    submit: 'desk.usePasskey',
    hidden: [...kept, ['nonce', nonce]],
    cancel: path,
    command
  })
}

/** A link that a program opens must not be used up, so its page has a button. */
function openPage({ app, path, query }: Arrival): PageReply {
  const { t } = siteOf(app)
  const token = query.get('token') ?? ''
  const form = {
    id: 'open',
    action: 'open',
    submit: t('desk.open'),
    to: '/desk/open',
    hidden: { token },
    rows: [],
    others: [],
    error: null,
    notice: null
  }
  const blocks = [
    { kind: 'text', text: t('desk.openText') },
    { kind: 'form', form }
  ]
  const data = { ...frame(app, t('desk'), { visit: null, path }), blocks }
  return { status: 200, template: 'desk', title: t('desk'), data }
}

async function openByLink({ app, access, request }: Arrival): Promise<PageReply> {
  const form = await readForm(request)
  const cookie = access.useLink(form.get('token') ?? '')
  if (cookie === undefined)
    throw new AppError('TOKEN_INVALID', siteOf(app).t('desk.invitationOver'), {}, { status: 410 })
  return { redirect: '/desk', setCookie: cookie }
}
