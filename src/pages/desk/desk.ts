import { hash } from 'node:crypto'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { methodNotAllowed, notFound } from '../../platform/http/answers.ts'
import {
  addressKey,
  clientAddress,
  forwardedHost,
  rawPath,
  rawTarget,
  socketAddress
} from '../../platform/http/client-address.ts'
import type { TrustedProxies } from '../../platform/http/client-address.ts'
import { csrfFailed, refuseOtherSite } from '../../platform/http/cross-site.ts'
import { clientLog, describeError } from '../../platform/log.ts'
import { maxPictureBytes } from '../../platform/pictures/picture-kind.ts'
import { isRecord } from '../../platform/typed.ts'
import { checkNonce, issueNonce } from '../../shop/accounts/nonce.ts'
import { act } from '../../shop/desk/act.ts'
import { usePasskey } from '../../shop/desk/passkeys.ts'
import { actorName, DeskRefusal, needsProof, requirePermission, requireRole } from '../../shop/desk/roles.ts'
import { wordsOf } from '../../shop/settings/language.ts'
import { chooseLanguage, forVisitor } from '../language-choice.ts'
import { readFormWithFiles } from '../page.ts'
import type { PageReply } from '../page.ts'
import { errorPage, siteOf } from '../shop-site.ts'
import type { Field, Outcome } from '../storefront/form-view.ts'
import type { DeskAccess } from './access.ts'
import { affiliateActions, affiliatePages } from './affiliates.ts'
import { customerActions, customerPages } from './customers.ts'
import { offerActions, offerPages } from './coupons.ts'
import { giftCardActions, giftCardPages } from './gift-cards.ts'
import { lawActions, lawPages } from './law.ts'
import { orderActions, orderPages } from './orders.ts'
import { orderChanges } from './order-changes.ts'
import { phoneOrder } from './phone-order.ts'
import { pictureActions } from './product-pictures.ts'
import { productActions, productPages } from './products.ts'
import { archiveAction, documentPages } from './documents.ts'
import { reportPages } from './reports.ts'
import { settingActions, settingPages } from './settings.ts'
import { proofPage, publicDesk } from './sign-in.ts'
import { deskForm, frame, page } from './view.ts'
import type { Action, DeskCall, DeskPage, Visit } from './view.ts'
import { ownActions, ownPages } from './own-access.ts'
import { todayPages } from './today.ts'

/** Every page of the desk, with the permission that it needs. */
export const deskPages: readonly DeskPage[] = [
  ...todayPages,
  ...ownPages,
  ...orderPages,
  ...productPages,
  ...customerPages,
  ...offerPages,
  ...giftCardPages,
  ...affiliatePages,
  ...reportPages,
  ...documentPages,
  ...lawPages,
  ...settingPages
]
/** Everything that a person can do at the desk: each is a page with a form. */
export const deskActions: readonly Action[] = [
  ...ownActions,
  ...orderActions,
  ...orderChanges,
  phoneOrder,
  ...productActions,
  ...pictureActions,
  ...customerActions,
  ...offerActions,
  ...giftCardActions,
  ...affiliateActions,
  archiveAction,
  ...lawActions,
  ...settingActions
]

/** Longer than the description of a product. */
const formLimitBytes = 256 * 1024
/** A form with a picture. */
const uploadLimitBytes = formLimitBytes + maxPictureBytes

/** Answers a request to the desk. @param trusted the proxies whose addresses of visitors count */
export async function answerDesk(
  shop: App,
  access: DeskAccess,
  trusted: TrustedProxies,
  request: Request
): Promise<PageReply> {
  const app = forVisitor(shop, request)
  const target = rawTarget(request)
  const path = rawPath(target)
  try {
    const chosen = chooseLanguage(shop, request)
    if (chosen !== null) return chosen
    const isWrite = request.method === 'POST'
    if (isWrite) refuseOtherOrigin(app, access, request, trusted)
    const now = app.clock.now()
    const address = clientAddress(socketAddress(request), request.headers.get('x-forwarded-for'), trusted)
    const query = new URLSearchParams(target.slice(path.length))
    const visitor = { addressKey: addressKey(address), userAgent: request.headers.get('user-agent') ?? '' }
    const arrival = { app, access, request, now, path, query, visitor }
    const open = publicDesk(arrival)
    if (open !== undefined) return await open
    const visit = access.find(request, now)
    if (visit === undefined) return access.whereToLogIn(path)
    const { tokenHash, actor } = visit
    const nonce = issueNonce(app.keys, tokenHash, now)
    const by = actorName(actor)
    const about = { request, now, params: [], query, path, nonce, by, files: [], words: wordsOf(app) }
    const call = { app, visit, visitor, ...about }
    return await (isWrite ? send(call, () => findAgain(app, access, request)) : show(call))
  } catch (error) {
    return refusal(app, error, path)
  }
}

/**
 * The person, once more. Sending a form may take half a minute, and the check of a passkey some time, and meanwhile their
 * access may end.
 *
 * @throws AppError NOT_AUTHENTICATED, NOT_FOUND
 */
function findAgain(app: App, access: DeskAccess, request: Request): Visit {
  if (!access.isOpenTo(request)) throw notFound()
  const visit = access.find(request, app.clock.now())
  if (visit === undefined) throw new AppError('NOT_AUTHENTICATED', 'Please log in first.')
  return visit
}

/** Only pages of the desk itself may send its forms: no other origin of the shop, whatever the configuration allows. */
function refuseOtherOrigin(app: App, access: DeskAccess, request: Request, trusted: TrustedProxies): void {
  refuseOtherSite({
    method: 'POST',
    secFetchSite: request.headers.get('sec-fetch-site'),
    origin: request.headers.get('origin'),
    hosts: [request.headers.get('host'), forwardedHost(request, trusted)],
    // The desk of "desk open" is not at the shop's address.
    publicUrl: access.hasPasskeys ? app.publicUrl() : '',
    origins: [],
    development: false
  })
}

function refusal(app: App, error: unknown, path: string): PageReply {
  if (error instanceof DeskRefusal) {
    const { t } = siteOf(app)
    const data = {
      ...frame(app, t('desk.notYours'), { visit: null, path }),
      blocks: [{ kind: 'text', text: t('desk.notYoursText') }]
    }
    return { status: 403, template: 'desk', title: t('desk.notYours'), data }
  }
  if (error instanceof AppError && error.status !== 500) return errorPage(app, error)
  clientLog(app.log).error('a page of the desk failed', { error: describeError(error) })
  return errorPage(app, new AppError('INTERNAL_SERVER_ERROR', 'Something went wrong on our side.'))
}

/** The route whose path matches, with what its groups matched. */
function match<T extends { path: RegExp }>(
  routes: readonly T[],
  path: string
): { route: T; params: string[] } | undefined {
  for (const route of routes) {
    const found = route.path.exec(path)
    if (found !== null) return { route, params: found.slice(1).map(decoded) }
  }
  return undefined
}

/** @throws AppError NOT_FOUND for a part that is not UTF-8 */
function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    throw notFound()
  }
}

async function show(call: DeskCall): Promise<PageReply> {
  const { request, visit, path } = call
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(['GET', 'POST'])
  const shown = match(deskPages, path)
  if (shown !== undefined) {
    requirePermission(visit.actor, shown.route.needs)
    return shown.route.show({ ...call, params: shown.params })
  }
  const found = match(deskActions, path)
  if (found === undefined) throw notFound()
  // The form itself moves nothing: a use of the passkey is asked for when it is sent.
  requireRole(visit.actor, found.route.needs)
  return actionPage({ ...call, params: found.params }, found.route, {})
}

/**
 * A form that was sent: the nonce, the role, what has changed meanwhile, the confirmation, the passkey, and then the work,
 * with its entry in the log.
 */
async function send(given: DeskCall, findVisit: () => Visit): Promise<PageReply> {
  const found = match(deskActions, given.path)
  if (found === undefined) throw match(deskPages, given.path) === undefined ? notFound() : methodNotAllowed(['GET'])
  const { route } = found
  requireRole(given.visit.actor, route.needs)
  const { form, files } = await readFormWithFiles(given.request, formLimitBytes, uploadLimitBytes)
  const call = { ...given, visit: findVisit(), params: found.params, files }
  const { app, visit, now, words } = call
  const nonce = form.get('nonce') ?? ''
  if (!checkNonce(app.keys, nonce, { sessionTokenHash: visit.tokenHash, startNonceHash: null }, now))
    throw csrfFailed('invalid_nonce', words.t('desk.oldForm'))
  if (route.version !== undefined && form.get('version') !== digest(route.version(call)))
    return actionPage(call, route, { status: 409, error: words.t('desk.changed') })
  try {
    if (route.confirm !== undefined && !form.has('sure'))
      return askToConfirm(call, route, form, await route.confirm(call, form))
    const isProven = visit.session === null || (await isProvenBy(call, route, form))
    const actor = { ...findVisit().actor, isProven }
    const subject = call.path.slice('/desk/'.length)
    const next = await act(app, actor, { permission: route.needs, subject }, now, () => route.run(call, form))
    return typeof next === 'string' ? { redirect: `${next}?done` } : next
  } catch (error) {
    if (error instanceof DeskRefusal && error.reason === 'proof')
      return proofPage(call, { command: route.command(call, form), form, question: null })
    if (!(error instanceof AppError) || error.status === 500) throw error
    return actionPage({ ...call, visit: findVisit() }, route, { ...outcomeOf(error), typed: Object.fromEntries(form) })
  }
}

/** Whether the form contains a use of the passkey, which is checked. */
async function isProvenBy(
  { app, visit, visitor, now }: DeskCall,
  { isFollowUp }: Action,
  form: URLSearchParams
): Promise<boolean> {
  if (isFollowUp?.(form) === true) return true
  const sent = form.get('credential')
  if (sent === null) return false
  await usePasskey(app, visit.session, sent, visitor, now)
  return true
}

function outcomeOf(error: AppError): Outcome {
  const fields = error.details['fieldErrors']
  const entries = isRecord(fields) ? Object.entries(fields) : []
  const refused = Object.fromEntries(
    entries.map(([name, messages]) => [name.split('.')[0] ?? name, Array.isArray(messages) ? messages.map(String) : []])
  )
  const errors = entries.flatMap(([, messages]) => (Array.isArray(messages) ? messages.map(String) : []))
  return { status: error.status, refused, error: errors.length === 0 ? error.message : errors.join(' ') }
}

/** A refusal whose fields are all in the form: the form says it beside each, and not twice. */
function atFields(outcome: Outcome, rows: readonly Field[][]): Outcome {
  const names = new Set(rows.flat().map(({ name }) => name))
  const refused = Object.keys(outcome.refused ?? {})
  return refused.length > 0 && refused.every((name) => names.has(name)) ? { ...outcome, error: null } : outcome
}

async function actionPage(call: DeskCall, route: Action, outcome: Outcome): Promise<PageReply> {
  const { title, text, rows, known = {}, submit, back } = await route.form(call)
  const version = route.version === undefined ? {} : { version: digest(route.version(call)) }
  const { status = 200, ...rest } = atFields(outcome, rows)
  const form = deskForm(call, { rows, submit, to: call.path, hidden: version }, known, rest)
  const typed = new URLSearchParams(outcome.typed ?? {})
  return page(call, {
    title,
    back,
    status,
    blocks: [...(text === undefined ? [] : [{ kind: 'text' as const, text }]), { kind: 'form', form }],
    command: route.command(call, typed)
  })
}

/** Asks for a confirmation: by the passkey if it is needed anyway, else by a button. */
async function askToConfirm(
  call: DeskCall,
  route: Action,
  form: URLSearchParams,
  question: string
): Promise<PageReply> {
  const { title, back } = await route.form(call)
  const hidden = { ...Object.fromEntries([...form].filter(([name]) => name !== 'nonce')), sure: '1' }
  if (needsProof(call.visit.actor, route.needs))
    return proofPage(call, { command: route.command(call, form), form: new URLSearchParams(hidden), question })
  const { t } = call.words
  return page(call, {
    title,
    back,
    blocks: [
      { kind: 'text', text: question, isNote: true },
      { kind: 'form', form: deskForm(call, { rows: [], submit: t('desk.sure'), to: call.path, hidden }) }
    ],
    command: route.command(call, form)
  })
}

function digest(version: string): string {
  return hash('sha256', version, 'base64url').slice(0, 22)
}
