import type { Actor, Permission } from '../../shop/desk/roles.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import type { Visitor } from '../../shop/desk/passkeys.ts'
import type { PersonRow } from '../../shop/desk/people.ts'
import type { DeskSessionRow } from '../../shop/desk/sessions.ts'
import type { Words } from '../../shop/settings/language.ts'
import type { App } from '../../app.ts'
import type { AppError } from '../../errors.ts'
import { validationFailed } from '../../errors.ts'
import type { SentPicture } from '../../shop/catalog/images/manage-images.ts'
import { toMinor } from '../../platform/money.ts'
import { isTextKey } from '../../platform/texts/languages.ts'
import type { TextKey } from '../../platform/texts/languages.ts'
import type { Tone } from '../../shop/orders/states.ts'
import type { HtmlReply, PageReply } from '../page.ts'
import { siteOf } from '../shop-site.ts'
import { formView } from '../storefront/form-view.ts'
import type { Field, FormView, Known, Outcome } from '../storefront/form-view.ts'

/** Who is at the desk, by their session. `personId`, `person` and `session` are null on the machine itself. */
export type Visit = {
  actor: Actor
  person: PersonRow | null
  session: DeskSessionRow | null
  /** The hash of the token in the cookie, to which the nonces of forms are bound. */
  tokenHash: string
}

/** The request of a page of the desk. */
export type DeskCall = {
  /** In the language of the person. */
  app: App
  visit: Visit
  /** Where the request comes from, for limits and sessions. */
  visitor: Visitor
  request: Request
  now: number
  /** What the groups of the path matched. */
  params: readonly string[]
  query: URLSearchParams
  path: string
  /** The nonce for the forms of the page. */
  nonce: string
  /** The person in the history of orders and other records. */
  by: string
  /** The files that a form was sent with. */
  files: readonly SentPicture[]
  words: Words
}

type Link = { label: string; url: string }
export type Item = {
  name: string
  url?: string
  state?: { label: string; tone: Tone }
  amount?: string
  hints?: readonly string[]
  picture?: string | null
  /** A button that does something with the item. */
  action?: { to: string; label: string; hidden: Readonly<Record<string, string>> }
}

/** The parts of a page, as desk.eta shows them. */
export type Block =
  | { kind: 'text'; text: string; isNote?: boolean }
  | { kind: 'facts'; title?: string; rows: { label: string; value: string; url?: string }[] }
  | { kind: 'sums'; title?: string; rows: { label: string; value: string }[]; chart?: { svg: string; about: string } }
  | { kind: 'list'; title?: string; items: Item[]; empty: string }
  | { kind: 'table'; title?: string; head: string[]; rows: (string | number)[][] }
  | { kind: 'links'; links: Link[] }
  | { kind: 'search'; fields: object[] }
  | { kind: 'pages'; newest: string | null; older: string | null }
  | { kind: 'code'; title?: string; text: string }
  | { kind: 'form'; title?: string; form: FormView }

export type Shown = {
  title: string
  blocks: readonly Block[]
  back?: Link
  /** The command that does the same. */
  command?: string
  error?: string
  status?: number
}

/** The parts of the desk in its navigation, with the permission that opens each. */
const sections: readonly { path: string; label: TextKey; needs: Permission }[] = [
  { path: '/desk', label: 'desk.today', needs: 'today' },
  { path: '/desk/orders', label: 'orders', needs: 'orders' },
  { path: '/desk/products', label: 'desk.products', needs: 'products' },
  { path: '/desk/more', label: 'desk.everything', needs: 'today' }
]

/** The frame of every page of the desk. A visitor who is not logged in gets no navigation. */
export function frame(app: App, title: string, rest: { visit: Visit | null; path: string }): HtmlReply['data'] {
  const site = siteOf(app)
  const { visit, path } = rest
  const allowed = sections.filter(({ needs }) => visit !== null && isAllowed(visit.actor, needs))
  const isIn = (section: string): boolean =>
    section === '/desk' ? path === section : path === section || path.startsWith(`${section}/`)
  return {
    site,
    t: site.t,
    title,
    sections: allowed.map(({ path: href, label }) => ({ href, label: site.t(label), isHere: isIn(href) })),
    who: visit?.person?.email ?? null,
    back: null,
    isDone: false,
    error: null,
    command: null
  }
}

/** A page of the desk. */
export function page({ app, visit, path, query }: DeskCall, shown: Shown): HtmlReply {
  const { title, blocks, back = null, command = null, error = null, status = 200 } = shown
  const data = { ...frame(app, title, { visit, path }), isDone: query.has('done'), blocks, back, command, error }
  return { status, template: 'desk', title, data }
}

/** A form of the desk, whose nonce proves that this page sent it. */
export function deskForm(
  call: DeskCall,
  { rows, submit, to, hidden = {} }: { rows: Field[][]; submit: string; to: string; hidden?: Record<string, string> },
  known: Known = {},
  outcome: Outcome = {}
): FormView {
  const hasFile = rows.flat().some(({ type }) => type === 'file')
  const blank = { id: 'desk', action: 'send', submit, to, rows, hidden: { ...hidden, nonce: call.nonce }, hasFile }
  return formView(blank, outcome, known)
}

/** A list of `pages` with the cursor of the next one. */
export function pagesOf({ path, query }: DeskCall, nextCursor: string | null): Block {
  const at = (cursor: string | null): string => {
    const other = new URLSearchParams(query)
    other.delete('done')
    if (cursor === null) other.delete('cursor')
    else other.set('cursor', cursor)
    return other.size === 0 ? path : `${path}?${other.toString()}`
  }
  return { kind: 'pages', newest: query.has('cursor') ? at(null) : null, older: nextCursor && at(nextCursor) }
}

/** The value of a query or a form without spaces around it; undefined for none. */
export function textOf(values: URLSearchParams, name: string): string | undefined {
  const value = values.get(name)?.trim() ?? ''
  return value === '' ? undefined : value
}

/** What a field lists with commas. */
export function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

/** An amount in major units, as text. */
export function amountText({ words }: DeskCall, amount: number, currency: string): string {
  return words.money(toMinor(amount, currency), currency)
}

/** A word of a command as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A command with its options: true for one without a value, a list for one that is repeated, undefined for none. */
export function commandOf(
  command: string,
  options: Readonly<Record<string, string | true | readonly string[] | undefined>> = {}
): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (value === true) return [`--${name}`]
    return [value].flat().map((each) => `--${name} ${shellWord(each)}`)
  })
  return ['shopstead', command, ...words].join(' ')
}

/** The refusal of one field. */
export function refuseField(field: string, message: string): AppError {
  return validationFailed({ [field]: [message] })
}

/** The text of a key that is put together, such as a state; the key's last part if there is none. */
export function textFor({ words }: Pick<DeskCall, 'words'>, prefix: string, name: string): string {
  const key = `${prefix}.${name}`
  return isTextKey(key) ? words.t(key) : name
}

/** What an action of the desk is: a form, and what it does when it is sent. */
export type Action = {
  path: RegExp
  /** Its path in the log, without ids. */
  name: string
  needs: Permission
  form: (call: DeskCall) => ActionForm | Promise<ActionForm>
  /** What the person has to confirm; without it, the form alone is enough. */
  confirm?: (call: DeskCall, form: URLSearchParams) => string | Promise<string>
  /** The state of what the action changes. The action is refused when it has changed since the form was shown. */
  version?: (call: DeskCall) => string
  /** Whether a form is the second step of one that was sent with the passkey. The action checks that itself. */
  isFollowUp?: (form: URLSearchParams) => boolean
  /** The command that does the same, with what was typed. */
  command: (call: DeskCall, form: URLSearchParams) => string
  /** Does it. Returns the path of the page to show next, or a page or a file. */
  run: (call: DeskCall, form: URLSearchParams) => string | PageReply | Promise<string | PageReply>
}

export type ActionForm = {
  title: string
  text?: string
  rows: Field[][]
  known?: Known
  submit: string
  back: Link
}

/** A page that only shows. */
export type DeskPage = {
  path: RegExp
  name: string
  needs: Permission
  show: (call: DeskCall) => PageReply | Promise<PageReply>
}
