import { Option } from 'commander'
import { defineTableImport } from '../shop/table-import.ts'
import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { eraseEverywhere, eraseGuestEverywhere } from '../../operations/erase-person.ts'
import type { Erased } from '../../operations/erase-person.ts'
import { formatMoney } from '../../platform/money.ts'
import { emailKey } from '../../platform/text.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { activateUser, deactivateUser } from '../../shop/accounts/deactivate.ts'
import { findUserByEmail, getUser } from '../../shop/accounts/find.ts'
import { newAccountInput, emailInput, profileInput } from '../../shop/accounts/input.ts'
import { countUnprovenSubscribers, listSubscribers, subscribersCsv } from '../../shop/accounts/marketing.ts'
import { listUsers, toAccountRecord, toUser } from '../../shop/accounts/view.ts'
import { logOutEverywhere } from '../../shop/accounts/sessions.ts'
import { assertPassword } from '../../shop/accounts/password-rules.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { setPassword } from '../../shop/accounts/set-password.ts'
import { exportGuest, exportPerson } from '../../shop/customers/export-person.ts'
import { openAccount } from '../../shop/customers/open-account.ts'
import { confirmEmail } from '../../shop/customers/verify-email.ts'
import { visibleBenefits } from '../../shop/benefits/list-benefits.ts'
import { accountSummary } from '../../shop/entitlements/entitlements.ts'
import { rolesOf } from '../../shop/entitlements/roles.ts'
import { countGuestOrders } from '../../shop/orders/find.ts'
import { openBalanceOf } from '../../shop/referrals/ledger.ts'
import type { Balance } from '../../shop/referrals/shapes.ts'
import { groupsOf } from '../../shop/groups/members.ts'
import { listNotes } from '../../shop/customers/notes.ts'
import { entitlementLines } from './benefits.ts'
import { defineNote, noteLine } from './notes.ts'
import { countOf } from '../terminal/arguments.ts'
import { writeCsv } from '../terminal/files.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeText } from '../terminal/table.ts'
import { JsonList, TextParts, whileShowing } from '../terminal/output.ts'
import { addCommand, assertPublicUrl, confirmOrRefuse, readPassword, runs } from '../run.ts'
import { addressParts } from '../../shop/checkout/address-rules.ts'
import { setAddress, setEmail, setName } from '../../shop/customers/correct-account.ts'

type SureOptions = { yes?: boolean }
type ListOptions = { status?: UserRow['status']; search?: string; limit: string }
type CreateOptions = {
  email: string
  displayName: string
  firstName?: string
  lastName?: string
  verified?: boolean
  passwordStdin?: boolean
}

export function define(program: ShopCommand): void {
  const group = program.command('users').description('accounts')
  defineReading(group)
  defineMaking(group)
  defineTableImport(group, 'customers', 'email')
  defineUserEdits(group, answer)
  defineChanges(group)
  defineNote(group, noteWords, (app, who) => {
    const user = getUser(app.db, who)
    return { about: { userId: user.id }, answer: (now) => answer(app, user, now) }
  })
  const about =
    'erase a person permanently, with or without an account, also from guest orders with the email; amounts and history stay'
  const erasing = addCommand(group, 'erase <email-or-id>', about, 'users erase 12')
  erasing
    .option('--yes', 'do not ask for confirmation')
    .option('--despite-balance', 'with --yes: also an affiliate who is owed commissions, or who owes some')
  runs(erasing, erase)
}

function defineReading(group: ShopCommand): void {
  const listing = addCommand(group, 'list', 'list accounts, newest first', 'users list --search lena')
    .addOption(
      new Option('--status <status>', 'only accounts with this status').choices(['active', 'deactivated', 'erased'])
    )
    .option('--search <text>', 'part of an email, username or display name')
    .option('--limit <n>', 'maximum number, up to 1000', '50')
  runs(listing, list)
  const showing = addCommand(
    group,
    'show <email-or-id>',
    'show one account with its consents and benefits',
    'users show 12'
  )
  runs(showing, ({ app, now }, who: string) => answer(app, getUser(app.db, who), now))
  const about =
    'export everything that the shop stores about a person as JSON (guest orders of an account only if the email is verified), or all people who want news by email'
  const exporting = addCommand(group, 'export [email-or-id]', about, 'users export lena@shop.example > lena.json')
    .addOption(
      new Option(
        '--consent <kind>',
        'all people who want news by email and have verified their address, with time and place of the consent and a link that ends it'
      ).choices(['marketing'])
    )
    .option('--csv <file>', 'with --consent: write a new CSV file')
  runs(exporting, (work: Work<ConsentOptions>, who?: string) =>
    work.options.consent === undefined ? printExport(work, who) : exportConsents(work, who)
  )
}

function defineMaking(group: ShopCommand): void {
  const example = 'users create --email lena@shop.example --display-name "Lena Hartmann" --verified'
  const creating = addCommand(group, 'create', 'create an account; prompts for the password', example)
    .requiredOption('--email <email>', 'email to log in with')
    .requiredOption('--display-name <name>', 'name that the shop shows')
    .option('--first-name <name>')
    .option('--last-name <name>')
    .option('--verified', 'mark the email as verified')
    .option('--password-stdin', 'read the password from standard input')
  runs(creating, create)
  const passwords = addCommand(
    group,
    'set-password <email-or-id>',
    'set a new password and end the sessions',
    'users set-password 12'
  )
  runs(
    passwords.option('--password-stdin', 'read the password from standard input'),
    async ({ app, options, now, terminal }: Work<{ passwordStdin?: boolean }>, who: string) => {
      const user = getUser(app.db, who)
      const password = await readPassword(terminal, options, (typed) => assertPassword(app, typed, user))
      return answer(app, await setPassword(app, user, password, now), now)
    }
  )
}

/** Changes whose only argument is the account. */
function defineChanges(group: ShopCommand): void {
  const change = (
    command: ShopCommand,
    act: (db: Db, userId: number, now: number) => void,
    question?: string
  ): ShopCommand =>
    runs(command, async ({ app, options, now, terminal }: Work<SureOptions>, who: string) => {
      const user = getUser(app.db, who)
      if (question !== undefined) await confirmOrRefuse(terminal, `${question} ${user.email}?`, options)
      act(app.db, user.id, now)
      return answer(app, getUser(app.db, user.id), now)
    })
  const verifying = addCommand(group, 'verify <email-or-id>', 'mark the email as verified', 'users verify 12')
  change(verifying, confirmEmail)
  const closing = addCommand(
    group,
    'deactivate <email-or-id>',
    'deactivate an account and end its sessions',
    'users deactivate 12'
  )
  change(closing.option('--yes', 'do not ask for confirmation'), deactivateUser, 'Deactivate')
  const opening = addCommand(group, 'activate <email-or-id>', 'activate a deactivated account', 'users activate 12')
  change(opening, activateUser)
  const ending = addCommand(group, 'logout <email-or-id>', 'end all sessions of an account', 'users logout 12')
  change(ending, logOutEverywhere)
}

const noteWords = {
  usage: 'note <email-or-id> [text]',
  about: 'note something about an account that its person does not see',
  example: 'users note 12 "Prefers to be called in the evening"'
}

async function create({ app, options, now, terminal }: Work<CreateOptions>): Promise<Answer> {
  const { email, displayName, firstName, lastName } = options
  const input = parseWith(newAccountInput, { email, displayName, firstName, lastName })
  const password = await readPassword(terminal, options, (typed) => assertPassword(app, typed, input))
  const state = { password, isAdmin: false, verified: options.verified ?? false }
  const user = await openAccount(app, { ...input, ...state }, now)
  const view = toUser(user, rolesOf(app.db, user), { billing: true })
  return { json: { user: view }, human: `${user.email} has account ${user.id}, username ${user.username}.` }
}

function list({ app, options }: Work<ListOptions>): Answer {
  const limit = /^\d{1,4}$/.test(options.limit) ? Number(options.limit) : 0
  if (limit < 1 || limit > 1000) throw new AppError('USAGE', '--limit must be a whole number from 1 to 1000.')
  const users = listUsers(app.db, { status: options.status, search: options.search, limit }).map((user) => ({
    ...toUser(user, rolesOf(app.db, user), { billing: true }),
    username: user.username,
    status: user.status
  }))
  const rows = users.map(({ id, email, displayName, status, roles }) => [
    id,
    email,
    displayName,
    status,
    roles.join(', ')
  ])
  return { json: { users }, human: table(['Id', 'Email', 'Name', 'State', 'Roles'], rows) }
}

function answer(app: App, user: UserRow, now: number): Answer {
  const { user: view, roles, entitlements } = accountSummary(app.db, user, { isLoggedIn: false }, now)
  const record = toAccountRecord(app.db, user)
  const notes = listNotes(app.db, { userId: user.id })
  const groups = groupsOf(app.db, user.id, now).map(({ slug }) => slug)
  const names = [record.profile.firstName, record.profile.lastName].filter((name) => name !== null).join(' ')
  return {
    json: { user: view, ...record, entitlements, groups, shopNotes: notes },
    human: [
      `${view.displayName} <${view.email}>, account ${view.id}, username ${record.username}`,
      `${record.status}, email ${record.emailVerifiedAt === null ? 'not verified' : `verified ${timeText(record.emailVerifiedAt)}`}`,
      `Name: ${names === '' ? 'none' : names}; roles: ${roles.wpRoles.join(', ')}; since ${timeText(view.createdAt)}`,
      `Terms accepted: ${timeOrNever(record.consent.termsAcceptedAt)}; privacy: ${timeOrNever(record.consent.privacyAcceptedAt)}`,
      ...(record.biography ?? '').split('\n'),
      ...(groups.length === 0 ? [] : [`Groups: ${groups.join(', ')}`]),
      ...entitlementLines(entitlements, visibleBenefits(app.db, user.id, now)),
      ...notes.map(noteLine)
    ]
  }
}

function timeOrNever(at: string | null): string {
  return at === null ? 'never' : timeText(at)
}

/** Whether an email has no account, but orders that a guest placed with it. */
function isGuest(db: Db, who: string): boolean {
  return findUserByEmail(db, who) === undefined && countGuestOrders(db, emailKey(who)) > 0
}

type ConsentOptions = { consent?: 'marketing'; csv?: string }

function exportConsents({ app, options, terminal }: Work<ConsentOptions>, who: string | undefined): Answer {
  if (who !== undefined) throw new AppError('USAGE', 'Name an account, or pass --consent, not both.')
  assertPublicUrl(app)
  const unproven = countUnprovenSubscribers(app.db)
  if (unproven > 0)
    terminal.messages.warn(
      `${countOf(unproven, 'person')} asked for news, but did not verify the email, so anyone could have typed it. They are left out.`
    )
  const subscribers = listSubscribers(app)
  const rows = (): Generator<string, void> => subscribersCsv(subscribers)
  if (options.csv === undefined) return { json: new JsonList('people', subscribers), human: new TextParts(rows()) }
  writeCsv(options.csv, rows())
  return { json: { file: options.csv }, human: `Written to ${options.csv}.` }
}

function printExport(work: Work<ConsentOptions>, who: string | undefined): Answer {
  const { app, now, terminal, options } = work
  if (who === undefined) throw new AppError('USAGE', 'Name an account by its email or id, or pass --consent marketing.')
  if (options.csv !== undefined) throw new AppError('USAGE', '--csv needs --consent.')
  if (isGuest(app.db, who)) {
    const document = exportGuest(app.db, who, now)
    return { json: document, human: JSON.stringify(document, null, 2) }
  }
  const user = getUser(app.db, who)
  const document = whileShowing(work, `collecting the data of account ${user.id}`, () =>
    exportPerson(app.db, user, now)
  )
  const leftOut = user.emailVerifiedAt === null ? countGuestOrders(app.db, user.emailKey) : 0
  if (leftOut > 0) {
    terminal.messages.warn(
      `Guest orders with this email: ${leftOut}. They are not included, because the email is not verified. If you know ` +
        `that it is this person's email, "shopstead users verify ${user.id}" adds them to the account.`
    )
  }
  return { json: document, human: JSON.stringify(document, null, 2) }
}

async function erase(
  { app, options, now, terminal }: Work<SureOptions & { despiteBalance?: boolean }>,
  who: string
): Promise<Answer> {
  if (isGuest(app.db, who)) {
    const found = countGuestOrders(app.db, emailKey(who))
    await confirmOrRefuse(
      terminal,
      `Erase the guest ${who} with ${countOf(found, 'order')} permanently? This cannot be undone.`,
      options
    )
    const report = await eraseGuestEverywhere(app, who)
    return {
      json: { user: null, status: 'erased', ...report },
      human: [
        `The guest is erased; ${countOf(found, 'order')} stay without personal data.`,
        ...leftoverLines(report, who)
      ]
    }
  }
  const user = getUser(app.db, who)
  const balance = openBalanceOf(app.db, user.id)
  if (balance !== null && options.yes && !options.despiteBalance)
    throw new AppError('CONFLICT', `${describeBalance(balance)} To erase the account anyway, pass --despite-balance.`)
  const question = eraseQuestion(user, countGuestOrders(app.db, user.emailKey))
  await confirmOrRefuse(terminal, balance === null ? question : `${describeBalance(balance)} ${question}`, options)
  const { user: erased, ...report } = eraseEverywhere(app, user.id, now)
  const { guestOrders } = report
  const view = toUser(erased, rolesOf(app.db, erased), { billing: true })
  return {
    json: { user: view, status: erased.status, ...report },
    human: [
      `Account ${user.id} has been erased; its orders${guestOrders === 0 ? '' : ` and ${guestOrders} guest orders with its email`} stay without personal data.`,
      ...leftoverLines(report, String(user.id))
    ]
  }
}

/** Where the person still is, and what to do about it. */
function leftoverLines({ invoices, tracesRemoved, backups, replica }: Omit<Erased, 'user'>, who: string): string[] {
  return [
    ...(invoices.keptUntil === null
      ? []
      : [
          `The name and address stay on ${countOf(invoices.count, 'document')} (invoices, credit notes, statements of payouts) until the end of ${invoices.keptUntil}, as the law requires of a shop (setting invoice.keepYears).`
        ]),
    ...(tracesRemoved ? [] : [traceAdvice(who, replica !== null)]),
    ...(backups.length === 0 ? [] : ['These backups still contain the person. Delete them:', ...backups]),
    ...(replica === null ? [] : [`The replica ${replica} contains the person until its present copies are a day old.`]),
    'Copies of backups in other places, the records at Stripe and the emails about new orders in your own mailbox (shop.notifyEmail) stay: delete them there. After a restore of an older backup, erase the person again.'
  ]
}

/** Litestream keeps the write-ahead log from being emptied while it runs, and has a copy of it beside the database. */
function traceAdvice(who: string, isReplicated: boolean): string {
  const again = `"shopstead users erase ${who}"`
  const how = isReplicated
    ? `Stop the replication ("systemctl stop shopstead-replica"), run ${again}, and start the replication again.`
    : `Run ${again} again.`
  return `Unused parts of the database file or its log may still contain the person, because another process was using the log. ${how}`
}

function describeBalance({ currency, pendingMinor, unpaidMinor }: Balance): string {
  const money = (minor: number): string => formatMoney(minor, currency)
  const owed = [
    ...(unpaidMinor > 0
      ? [`The shop owes this affiliate ${money(unpaidMinor)}, which cannot be paid afterwards.`]
      : []),
    ...(unpaidMinor < 0
      ? [`This affiliate owes the shop ${money(-unpaidMinor)}, which counts again if their email becomes an affiliate.`]
      : []),
    ...(pendingMinor > 0 ? [`Commissions of ${money(pendingMinor)} are pending.`] : [])
  ]
  return owed.join(' ')
}

function eraseQuestion({ email, emailVerifiedAt }: UserRow, guestOrders: number): string {
  const unproven = emailVerifiedAt === null ? ', which is not verified,' : ''
  const more =
    guestOrders === 0 ? '' : ` Guest orders with this email${unproven} lose their personal data, too: ${guestOrders}.`
  return `Erase ${email} permanently?${more} This cannot be undone.`
}

type NameOptions = { displayName?: string; firstName?: string; lastName?: string }
type AddressOptions = Record<(typeof parts)[number], string | undefined> & { none?: boolean }
type Show = (app: Work<object>['app'], user: UserRow, now: number) => Answer

const parts = ['address1', 'address2', 'postcode', 'city', 'state', 'country'] as const

/** Adds the commands that correct the data of an account, also for a privacy request. */
function defineUserEdits(group: ShopCommand, show: Show): void {
  const email = addCommand(
    group,
    'set-email <email-or-id> <new-email>',
    'give an account another email; the old address gets a notice, the new one a link to verify it',
    'users set-email 12 lena@new.example'
  ).option('--verified', 'the new email is known to be theirs: mark it as verified')
  runs(email, ({ app, options, now }: Work<{ verified?: boolean }>, who: string, text: string) => {
    const { email } = parseWith(emailInput, { email: text })
    const isVerified = options.verified ?? false
    return show(app, setEmail(app, getUser(app.db, who).id, { email, isVerified }, now), now)
  })
  const name = addCommand(
    group,
    'set-name <email-or-id>',
    'change the names of an account; an empty text removes one',
    'users set-name 12 --first-name Lena --last-name Hartmann'
  )
    .option('--display-name <name>', 'name that the shop shows')
    .option('--first-name <name>')
    .option('--last-name <name>')
  runs(name, ({ app, options, now }: Work<NameOptions>, who: string) => {
    const { displayName, firstName, lastName } = options
    if ((displayName ?? firstName ?? lastName) === undefined)
      throw new AppError('USAGE', 'Pass --display-name, --first-name or --last-name.')
    const names = parseWith(profileInput, { displayName, firstName, lastName })
    return show(app, setName(app.db, getUser(app.db, who).id, names, now), now)
  })
  const address = addCommand(
    group,
    'set-address <email-or-id>',
    'change the address of an account',
    'users set-address 12 --address1 "Hafenstr. 3" --postcode 24103 --city Kiel --country DE'
  )
  for (const part of parts) address.option(`--${part} <text>`)
  address.option('--none', 'remove the address')
  runs(address, ({ app, options, now }: Work<AddressOptions>, who: string) => {
    const typed = Object.fromEntries(parts.map((part) => [part, options[part]]))
    if (options.none !== true && parts.every((part) => options[part] === undefined))
      throw new AppError('USAGE', 'Pass the parts of the address, such as --city and --country, or --none.')
    const wanted = options.none === true ? null : parseWith(addressParts, typed)
    return show(app, setAddress(app.db, getUser(app.db, who).id, wanted, now), now)
  })
}
