import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import { parseWith } from '../platform/http/validation.ts'
import { getUser } from '../shop/accounts/find.ts'
import { emailInput, profileInput } from '../shop/accounts/input.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { addressParts } from '../shop/checkout/address-input.ts'
import { setAddress, setEmail, setName } from '../shop/customers/correct-account.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'

type NameOptions = { displayName?: string; firstName?: string; lastName?: string }
type AddressOptions = Record<(typeof parts)[number], string | undefined> & { none?: boolean }
type Show = (app: Work<object>['app'], user: UserRow, now: number) => Answer

const parts = ['address1', 'address2', 'postcode', 'city', 'state', 'country'] as const

/** Adds the commands that correct the data of an account, also for a privacy request. */
export function defineUserEdits(group: ShopCommand, show: Show): void {
  const email = addCommand(
    group,
    'set-email <email-or-id> <new-email>',
    'give an account another email; the old address gets a notice, the new one a link to verify it',
    'users set-email 12 lena@new.example'
  ).option('--verified', 'the new email is known to be theirs: mark it as verified')
  runs(email, 'migrated', ({ app, options, now }: Work<{ verified?: boolean }>, who: string, text: string) => {
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
  runs(name, 'migrated', ({ app, options, now }: Work<NameOptions>, who: string) => {
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
  runs(address, 'migrated', ({ app, options, now }: Work<AddressOptions>, who: string) => {
    const typed = Object.fromEntries(parts.map((part) => [part, options[part]]))
    if (options.none !== true && parts.every((part) => options[part] === undefined))
      throw new AppError('USAGE', 'Pass the parts of the address, such as --city and --country, or --none.')
    const wanted = options.none === true ? null : parseWith(addressParts, typed)
    return show(app, setAddress(app.db, getUser(app.db, who).id, wanted, now), now)
  })
}
