import { addNote } from '../../shop/customers/notes.ts'
import { noteBlocks, noteCommand, noteRows } from './notes.ts'
import { AppError } from '../../errors.ts'
import { eraseEverywhere, eraseGuestEverywhere } from '../../operations/erase-person.ts'
import type { Erased } from '../../operations/erase-person.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { emailKey } from '../../platform/text.ts'
import { activateUser, deactivateUser } from '../../shop/accounts/deactivate.ts'
import { findUserByEmail, getUserById } from '../../shop/accounts/find.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { listSubscribers, subscribersCsv } from '../../shop/accounts/marketing.ts'
import { logOutEverywhere } from '../../shop/accounts/sessions.ts'
import { listUsers, toAccountRecord } from '../../shop/accounts/view.ts'
import { listAllOrders } from '../../shop/customers/admin-orders.ts'
import { exportGuest, exportPerson } from '../../shop/customers/export-person.ts'
import { confirmEmail } from '../../shop/customers/verify-email.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { accountSummary } from '../../shop/entitlements/entitlements.ts'
import type { Entitlements } from '../../shop/entitlements/shapes.ts'
import { getOrder } from '../../shop/orders/find.ts'
import { openBalanceOf } from '../../shop/referrals/ledger.ts'
import type { PageReply } from '../page.ts'
import { bytesOf, orderItem } from './orders.ts'
import { commandOf, page, pagesOf, shellWord, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage } from './view.ts'

const perPage = 25
const idPart = String.raw`([1-9]\d{0,14})`
const tones = { active: 'good', deactivated: 'wait', erased: 'bad' } as const

export const customerPages: readonly DeskPage[] = [
  { path: /^\/desk\/customers$/, name: '/desk/customers', needs: 'customers', show: showCustomers },
  {
    path: new RegExp(`^/desk/customers/${idPart}$`),
    name: '/desk/customers/:id',
    needs: 'customers',
    show: showCustomer
  },
  { path: new RegExp(`^/desk/guests/${idPart}$`), name: '/desk/guests/:id', needs: 'customers', show: showGuest }
]

function showCustomers(call: DeskCall): PageReply {
  const { app, query, words } = call
  const { t } = words
  const search = textOf(query, 'search')
  const before = /^[1-9]\d{0,14}$/.exec(query.get('cursor') ?? '')?.[0]
  const found = listUsers(app.db, {
    search,
    beforeId: before === undefined ? undefined : Number(before),
    limit: perPage + 1
  })
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  const news = { label: t('desk.exportNews'), url: '/desk/customers/news' }
  return page(call, {
    title: t('desk.customers'),
    blocks: [
      { kind: 'links', links: isAllowed(call.visit.actor, 'customers.data') ? [news] : [] },
      {
        kind: 'search',
        fields: [{ name: 'search', label: t('desk.searchCustomers'), type: 'text', value: search ?? '' }]
      },
      ...guestBlocks(call, search),
      {
        kind: 'list',
        items: shown.map(({ id, displayName, email, status, createdAt }) => ({
          name: displayName,
          url: `/desk/customers/${id}`,
          state: { label: textFor(call, 'desk.account', status), tone: tones[status] },
          hints: [email, words.time(createdAt)]
        })),
        empty: t('desk.noCustomers')
      },
      pagesOf(call, last === undefined ? null : String(last.id))
    ],
    command: commandOf('users list', { search })
  })
}

/** A search for the email of someone who bought without an account leads to their orders. */
function guestBlocks({ app, words }: DeskCall, search: string | undefined): Block[] {
  if (search === undefined || !search.includes('@') || findUserByEmail(app.db, search) !== undefined) return []
  const [newest] = listAllOrders(app.db, { emailKey: emailKey(search), limit: 1 }).orders
  if (newest === undefined) return []
  const link = { label: words.t('desk.guestOrders', { email: search }), url: `/desk/guests/${newest.id}` }
  return [{ kind: 'links', links: [link] }]
}

function userOf({ app, params }: DeskCall): UserRow {
  return getUserById(app.db, Number(params[0]))
}

function showCustomer(call: DeskCall): PageReply {
  const { app, words, now } = call
  const { t } = words
  const user = userOf(call)
  const record = toAccountRecord(app.db, user)
  const { entitlements } = accountSummary(app.db, user, { isLoggedIn: false }, now)
  const { orders } = listAllOrders(app.db, { userId: user.id, limit: perPage })
  const { firstName, lastName } = record.profile
  const facts = [
    { label: t('desk.status'), value: textFor(call, 'desk.account', user.status) },
    { label: t('email'), value: user.email },
    {
      label: t('desk.verified'),
      value: user.emailVerifiedAt === null ? t('desk.notVerified') : words.time(user.emailVerifiedAt)
    },
    { label: t('desk.name'), value: [firstName, lastName].filter(Boolean).join(' ') },
    { label: t('desk.shipTo'), value: user.address === null ? '' : postalLines(user.address).join(', ') },
    { label: t('desk.since'), value: words.time(user.createdAt) },
    { label: t('desk.marketing'), value: t(user.marketingOptIn === 'yes' ? 'desk.yes' : 'desk.no') },
    { label: t('desk.entitled'), value: benefitNames(entitlements) }
  ]
  return page(call, {
    title: user.displayName,
    back: { label: t('desk.customers'), url: '/desk/customers' },
    blocks: [
      { kind: 'links', links: actionsOf(call, user) },
      { kind: 'facts', rows: facts.filter(({ value }) => value !== '') },
      ...noteBlocks(call, { userId: user.id }),
      {
        kind: 'list',
        title: t('orders'),
        items: orders.map((order) => orderItem(call, order)),
        empty: t('desk.noOrders')
      }
    ],
    command: `shopstead users show ${user.id}`
  })
}

function benefitNames({ memberships, subscriptions }: Entitlements): string {
  const names = memberships.filter(({ status }) => status === 'active').map(({ planName }) => planName)
  const running = subscriptions.filter(({ status }) => status === 'active').map(({ name }) => name)
  return [...names, ...running].join(', ')
}

function actionsOf({ visit, words }: DeskCall, user: UserRow): { label: string; url: string }[] {
  const { t } = words
  const mayHandle = isAllowed(visit.actor, 'customers.handle') && user.status !== 'erased'
  const mayData = isAllowed(visit.actor, 'customers.data') && user.status !== 'erased'
  const links: [boolean, string, string][] = [
    [mayHandle && user.emailVerifiedAt === null, t('desk.verify'), 'verify'],
    [mayHandle, t('desk.addNote'), 'note'],
    [mayHandle, t('desk.logOutAll'), 'logout'],
    [mayHandle && user.status === 'active', t('desk.deactivate'), 'deactivate'],
    [mayHandle && user.status === 'deactivated', t('desk.activate'), 'activate'],
    [mayData, t('desk.export'), 'export'],
    [mayData, t('desk.erase'), 'erase']
  ]
  return links
    .filter(([isShown]) => isShown)
    .map(([, label, verb]) => ({ label, url: `/desk/customers/${user.id}/${verb}` }))
}

/** The email of the guest who placed an order. @throws AppError NOT_FOUND for an order of an account, or without an email */
function guestOf({ app, params }: DeskCall): string {
  const { userId, email } = getOrder(app.db, Number(params[0]))
  if (userId !== null || email === null) throw new AppError('NOT_FOUND', 'No guest placed this order.')
  return email
}

function showGuest(call: DeskCall): PageReply {
  const { app, words, visit } = call
  const { t } = words
  const email = guestOf(call)
  const { orders } = listAllOrders(app.db, { emailKey: emailKey(email), limit: perPage })
  const to = (verb: string): string => `/desk/guests/${Number(call.params[0])}/${verb}`
  const links = [
    { label: t('desk.export'), url: to('export') },
    { label: t('desk.erase'), url: to('erase') }
  ]
  return page(call, {
    title: email,
    back: { label: t('desk.customers'), url: '/desk/customers' },
    blocks: [
      { kind: 'links', links: isAllowed(visit.actor, 'customers.data') ? links : [] },
      { kind: 'text', text: t('desk.guestText') },
      { kind: 'list', title: t('orders'), items: orders.map((order) => orderItem(call, order)), empty: '' }
    ],
    command: commandOf('orders list', { user: email })
  })
}

type Parts = {
  title:
    | 'desk.verify'
    | 'desk.logOutAll'
    | 'desk.deactivate'
    | 'desk.activate'
    | 'desk.export'
    | 'desk.erase'
    | 'desk.addNote'
  needs: Action['needs']
  text?: (call: DeskCall) => string
  confirm?: (call: DeskCall) => string
}

/** An action on one account. */
function accountAction(
  verb: string,
  { title, needs, text, confirm }: Parts,
  command: (id: number) => string,
  run: (call: DeskCall, user: UserRow) => unknown = () => undefined
): Action {
  return {
    path: new RegExp(`^/desk/customers/${idPart}/${verb}$`),
    name: `/desk/customers/:id/${verb}`,
    needs,
    form: (call) => {
      const user = userOf(call)
      const about = text === undefined ? {} : { text: text(call) }
      const back = { label: user.displayName, url: `/desk/customers/${user.id}` }
      return { title: call.words.t(title), ...about, rows: [], submit: call.words.t(title), back }
    },
    ...(confirm === undefined ? {} : { confirm }),
    command: (call) => command(userOf(call).id),
    run: (call) => {
      run(call, userOf(call))
      return `/desk/customers/${userOf(call).id}`
    }
  }
}

/** An action on all that a guest ordered, found by one of the orders. */
function guestAction(
  verb: 'export' | 'erase',
  confirm: Action['confirm'],
  run: (call: DeskCall, email: string) => PageReply | Promise<PageReply>
): Action {
  const title = verb === 'export' ? 'desk.export' : 'desk.erase'
  return {
    path: new RegExp(`^/desk/guests/${idPart}/${verb}$`),
    name: `/desk/guests/:id/${verb}`,
    needs: 'customers.data',
    form: (call) => ({
      title: call.words.t(title),
      text: call.words.t(verb === 'export' ? 'desk.exportText' : 'desk.eraseText'),
      rows: [],
      submit: call.words.t(title),
      back: { label: guestOf(call), url: `/desk/guests/${Number(call.params[0])}` }
    }),
    ...(confirm === undefined ? {} : { confirm }),
    command: (call) => commandOf(`users ${verb} ${shellWord(guestOf(call))}`),
    run: (call) => run(call, guestOf(call))
  }
}

/** A document about a person, which the browser stores as a file. */
function jsonFile(document: object, name: string): PageReply {
  return { file: bytesOf(JSON.stringify(document, null, 2)), type: 'application/json; charset=utf-8', name }
}

/** What is left of a person who was erased, and what the owner has to do about it. */
function erasedPage(
  call: DeskCall,
  { guestOrders, invoices, tracesRemoved, backups, replica }: Omit<Erased, 'user'>
): PageReply {
  const { t } = call.words
  const left = [
    ...(guestOrders === 0 ? [] : [t('desk.erasedOrders', { count: guestOrders })]),
    ...(invoices.keptUntil === null
      ? []
      : [t('desk.erasedInvoices', { count: invoices.count, year: invoices.keptUntil })]),
    ...(tracesRemoved ? [] : [t('desk.erasedTraces')]),
    ...backups.map((name) => t('desk.erasedBackup', { name })),
    ...(replica === null ? [] : [t('desk.erasedReplica')])
  ]
  return page(call, {
    title: t('desk.erased'),
    back: { label: t('desk.customers'), url: '/desk/customers' },
    blocks: [{ kind: 'list', items: left.map((name) => ({ name })), empty: t('desk.erasedAll') }]
  })
}

const exporting: Parts = {
  title: 'desk.export',
  needs: 'customers.data',
  text: ({ words }) => words.t('desk.exportText')
}

const erasing: Parts = {
  title: 'desk.erase',
  needs: 'customers.data',
  text: ({ words }) => words.t('desk.eraseText'),
  confirm: ({ app, words, params }) => {
    const balance = openBalanceOf(app.db, Number(params[0]))
    const { email } = getUserById(app.db, Number(params[0]))
    const sure = words.t('desk.eraseSure', { email })
    if (balance === null) return sure
    return `${words.t('desk.eraseBalance', { amount: words.money(balance.unpaidMinor + balance.pendingMinor, balance.currency) })} ${sure}`
  }
}

const noting = accountAction(
  'note',
  { title: 'desk.addNote', needs: 'customers.handle', text: ({ words }) => words.t('desk.addNoteText') },
  (id) => `shopstead users note ${id}`
)

/** Who wants news by email, for the program that sends them. */
const exportNews: Action = {
  path: /^\/desk\/customers\/news$/,
  name: '/desk/customers/news',
  needs: 'customers.data',
  form: ({ words }) => ({
    title: words.t('desk.exportNews'),
    text: words.t('desk.exportNewsText'),
    rows: [],
    submit: words.t('desk.exportNews'),
    back: { label: words.t('desk.customers'), url: '/desk/customers' }
  }),
  command: () => 'shopstead users export --consent marketing --csv FILE',
  run: ({ app }) => {
    const file = bytesOf([...subscribersCsv(listSubscribers(app))].join(''))
    return { file, type: 'text/csv; charset=utf-8', name: 'news.csv' }
  }
}

export const customerActions: readonly Action[] = [
  exportNews,
  {
    ...noting,
    form: async (call) => ({ ...(await noting.form(call)), rows: noteRows(call) }),
    command: (call, form) => noteCommand('users', userOf(call).id, form),
    run: (call, form) => {
      const { app, by, now } = call
      const { id: userId } = userOf(call)
      addNote(app.db, { userId }, form.get('text') ?? '', by, now)
      return `/desk/customers/${userId}`
    }
  },
  accountAction(
    'verify',
    { title: 'desk.verify', needs: 'customers.handle', text: ({ words }) => words.t('desk.verifyText') },
    (id) => `shopstead users verify ${id}`,
    ({ app, now }, user) => confirmEmail(app.db, user.id, now)
  ),
  accountAction(
    'logout',
    { title: 'desk.logOutAll', needs: 'customers.handle' },
    (id) => `shopstead users logout ${id}`,
    ({ app }, user) => logOutEverywhere(app.db, user.id)
  ),
  accountAction(
    'deactivate',
    { title: 'desk.deactivate', needs: 'customers.handle', text: ({ words }) => words.t('desk.deactivateText') },
    (id) => `shopstead users deactivate ${id}`,
    ({ app, now }, user) => deactivateUser(app.db, user.id, now)
  ),
  accountAction(
    'activate',
    { title: 'desk.activate', needs: 'customers.handle' },
    (id) => `shopstead users activate ${id}`,
    ({ app, now }, user) => activateUser(app.db, user.id, now)
  ),
  {
    ...accountAction('export', exporting, (id) => `shopstead users export ${id}`),
    run: (call) => {
      const user = userOf(call)
      return jsonFile(exportPerson(call.app.db, user, call.now), `account-${user.id}.json`)
    }
  },
  {
    ...accountAction('erase', erasing, (id) => `shopstead users erase ${id}`),
    run: (call) => erasedPage(call, eraseEverywhere(call.app, userOf(call).id, call.now))
  },
  guestAction('export', undefined, ({ app, now }, email) => jsonFile(exportGuest(app.db, email, now), 'guest.json')),
  guestAction(
    'erase',
    (call) => call.words.t('desk.eraseSure', { email: guestOf(call) }),
    async (call, email) => erasedPage(call, await eraseGuestEverywhere(call.app, email))
  )
]
