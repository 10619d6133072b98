import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { listAdministrators, setAdministrator } from '../../shop/accounts/deactivate.ts'
import { findUserByEmail, getUser } from '../../shop/accounts/find.ts'
import { newAccountInput } from '../../shop/accounts/input.ts'
import { assertPassword } from '../../shop/accounts/password-rules.ts'
import { openAccount } from '../../shop/customers/open-account.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { toUser } from '../../shop/accounts/view.ts'
import { rolesOf } from '../../shop/entitlements/roles.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { addCommand, confirmOrRefuse, readPassword, runs } from '../run.ts'

type CreateOptions = { email: string; displayName?: string; passwordStdin?: boolean }

export function define(program: ShopCommand): void {
  const group = program.command('admin').description('administrators')
  const creating = addCommand(
    group,
    'create',
    'create an administrator; prompts for the password',
    'admin create --email a@b.example'
  )
    .requiredOption('--email <email>', 'email to log in with; an existing account becomes an administrator')
    .option('--display-name <name>', 'name that the shop shows')
    .option('--password-stdin', 'read the password from standard input')
  runs(creating, create)
  runs(addCommand(group, 'list', 'list the administrators', 'admin list'), list)
  const revoking = addCommand(
    group,
    'revoke <email-or-id>',
    'remove the role and end the sessions; the account stays',
    'admin revoke 12'
  )
  runs(revoking.option('--yes', 'do not ask for confirmation'), revoke)
}

/** A second run changes nothing, so that set-up scripts can repeat it. */
async function create({ app, options, now, terminal }: Work<CreateOptions>): Promise<Answer> {
  const displayName = options.displayName ?? options.email.split('@')[0]
  const input = parseWith(newAccountInput, { email: options.email, displayName })
  const known = findUserByEmail(app.db, input.email)
  if (known !== undefined) return promote(app, known, now)
  const password = await readPassword(terminal, options, (typed) => assertPassword(app, typed, input))
  const state = { password, isAdmin: true, verified: true }
  const user = await openAccount(app, { ...input, ...state }, now)
  return {
    json: { user: view(app, user), created: true },
    human: `${user.email} is an administrator, account ${user.id}.`
  }
}

function promote(app: App, known: UserRow, now: number): Answer {
  const { user, changed } = setAdministrator(app.db, known.id, true, now)
  return {
    json: { user: view(app, user), created: false, granted: changed },
    human: changed
      ? `${user.email} already had an account and is now an administrator. The password has not changed.`
      : `${user.email} is already an administrator. Nothing has changed.`
  }
}

function list({ app }: Work<object>): Answer {
  const administrators = listAdministrators(app.db)
  const rows = administrators.map(({ id, email, displayName, status }) => [id, email, displayName, status])
  return {
    json: { administrators: administrators.map((user) => ({ ...view(app, user), status: user.status })) },
    human: table(['Id', 'Email', 'Name', 'State'], rows, 'The shop has no administrator.')
  }
}

async function revoke({ app, options, now, terminal }: Work<{ yes?: boolean }>, who: string): Promise<Answer> {
  const known = getUser(app.db, who)
  await confirmOrRefuse(terminal, `Revoke administrator from ${known.email}?`, options)
  const { user, changed } = setAdministrator(app.db, known.id, false, now)
  if (changed && listAdministrators(app.db).length === 0)
    terminal.messages.warn('The shop has no administrator now. Create one with "shopstead admin create".')
  return {
    json: { user: view(app, user), revoked: changed },
    human: changed ? `${user.email} is no longer an administrator.` : `${user.email} was not an administrator.`
  }
}

function view(app: App, user: UserRow) {
  return toUser(user, rolesOf(app.db, user), { billing: true })
}
