import { AppError } from '../../errors.ts'
import { changeSetting, resetSetting } from '../../operations/change-setting.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { listDeskLog } from '../../shop/desk/act.ts'
import {
  endEverySession,
  getPersonByEmail,
  invite,
  isDeskPossible,
  listPeople,
  personInput,
  removePerson
} from '../../shop/desk/people.ts'
import { roles } from '../../shop/desk/roles.ts'
import { Option } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import { parsePageLimit } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { table, timeCell } from '../terminal/table.ts'

export function define(program: ShopCommand): void {
  const group = program.command('desk').description("the shop's office in the browser, at /desk")
  runs(addCommand(group, 'enable', 'switch the desk on', 'desk enable'), enable)
  runs(
    addCommand(group, 'disable', 'switch the desk off: it has no address, and every session ends', 'desk disable'),
    disable
  )
  const inviting = addCommand(
    group,
    'invite <email>',
    'give a person access, change their role, or help one who lost the passkey: prints and mails a link for 15 minutes',
    'desk invite anna@shop.example --role orders'
  )
  runs(
    inviting.addOption(new Option('--role <role>', 'what the person may do').choices(roles).makeOptionMandatory()),
    inviteOne
  )
  runs(addCommand(group, 'people', 'list the people with access', 'desk people'), ({ app }) => {
    const people = listPeople(app.db)
    const rows = people.map(({ email, role, passkeys }) => [email, role, passkeys])
    return { json: { people }, human: table(['Email', 'Role', 'Passkeys'], rows, 'No person has access to the desk.') }
  })
  const removing = addCommand(group, 'remove <email>', 'end the access of a person', 'desk remove anna@shop.example')
  runs(removing.option('--yes', 'do not ask for confirmation'), removeOne)
  const log = addCommand(group, 'log', 'list what was done at the desk, newest first', 'desk log --limit 100')
  runs(log.option('--limit <n>', 'maximum number, up to 1000', '20'), ({ app, options }: Work<{ limit: string }>) => {
    const entries = listDeskLog(app.db, { limit: parsePageLimit(options.limit) })
    const rows = entries.map(({ at, who, subject, outcome }) => [timeCell(at), who, subject, outcome])
    return { json: { entries }, human: table(['At', 'Who', 'What', 'Outcome'], rows, 'Nothing was done at the desk.') }
  })
  const opening = addCommand(
    group,
    'open',
    'open the desk on this machine only, by a link that works once, until Ctrl-C; it needs no desk that is switched on',
    'desk open --port 4000'
  )
  runs(opening.option('--port <port>', 'port on 127.0.0.1, 0 for any free port', '0'), open)
}

function enable({ app, now }: Work<object>): Answer {
  if (!isDeskPossible(app))
    throw new AppError(
      'CONFIG_INVALID',
      'Browsers make passkeys only for https addresses with a host name. Set SHOPSTEAD_PUBLIC_URL to one, or use "shopstead desk open".'
    )
  changeSetting(app.db, 'desk.enabled', 'true', now)
  const url = `${app.publicUrl()}/desk`
  const hasPeople = listPeople(app.db).length > 0
  return {
    json: { enabled: true, url },
    human: [
      `The desk is at ${url}.`,
      ...(hasPeople ? [] : ['Invite its owner: shopstead desk invite EMAIL --role owner'])
    ]
  }
}

function disable({ app, now }: Work<object>): Answer {
  resetSetting(app.db, 'desk.enabled', now)
  endEverySession(app.db)
  return { json: { enabled: false }, human: 'The desk is switched off, and every session has ended.' }
}

function inviteOne({ app, options, now }: Work<{ role: string }>, email: string): Answer {
  const { person, url, expiresAt } = invite(app, parseWith(personInput, { email, role: options.role }), now)
  return {
    json: { person: { email: person.email, role: person.role }, url, expiresAt: new Date(expiresAt).toISOString() },
    human: [`${person.email} opens this link within 15 minutes and makes a passkey. It works once:`, url]
  }
}

async function removeOne({ app, options, now, terminal }: Work<{ yes?: boolean }>, email: string): Promise<Answer> {
  const { id } = getPersonByEmail(app.db, email)
  await confirmOrRefuse(terminal, `End the access of ${email}?`, options)
  const person = removePerson(app.db, id, now)
  return { json: { person: { email: person.email } }, human: `${person.email} has no access any more.` }
}

async function open({ app, options, terminal }: Work<{ port: string }>): Promise<Answer> {
  if (!/^\d{1,5}$/.test(options.port) || Number(options.port) > 65_535)
    throw new AppError('USAGE', '--port must be a number from 0 to 65535.')
  const { openDesk } = await import('../../open-desk.ts')
  const desk = await openDesk(app, Number(options.port))
  terminal.stdout.write(
    `Open this link in a browser on this machine. It works once. Ctrl-C ends the desk.\n${desk.link}\n`
  )
  await terminal.untilStopped()
  await desk.close()
  return { json: { closed: true }, human: 'The desk is closed.' }
}
