import { AppError } from '../../errors.ts'
import { codePoints } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'

export type PasswordRule = 'min_length' | 'max_length' | 'well_formed' | 'common' | 'personal'

/** The owner of a password. Their email and name do not count towards its length. */
export type PasswordOwner = { readonly email: string; readonly displayName: string }

const maxLength = 256
const ownLength = 8
/** A shorter name appears in many passwords by chance. */
const shortestPiece = 3

let common: Promise<ReadonlySet<string>> | undefined

/** Loaded when a password is first chosen: unpacking takes 20 ms, and nothing else needs the list. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common/dist/passwords.json.mjs').then(
    ({ default: list }) => new Set(list.filter((password) => password.length >= 8).map(fold))
  )
  return common
}

/**
 * The rules that a password breaks (NIST SP 800-63B 3.1.1.2, ASVS 6.2): its length in code points, whether it is on the
 * list of common passwords, and whether 8 code points remain without the email's local part, the display name and the
 * shop's name (with and without spaces, in any case; parts under 3 code points are ignored). There is no rule about
 * kinds of characters.
 */
export async function checkPassword(
  password: string,
  context: PasswordOwner & { shopName: string; minLength: number }
): Promise<PasswordRule[]> {
  const length = codePoints(password)
  const broken: [PasswordRule, boolean][] = [
    ['min_length', length < context.minLength],
    ['max_length', length > maxLength],
    // A lone surrogate is hashed as U+FFFD, so two different passwords would be equal.
    ['well_formed', !password.isWellFormed()],
    ['common', (await commonPasswords()).has(fold(password))],
    ['personal', isPersonal(password, context)]
  ]
  return broken.filter(([, isBroken]) => isBroken).map(([rule]) => rule)
}

/** Whether a password that is long enough consists mostly of names. */
function isPersonal(password: string, context: PasswordOwner & { shopName: string }): boolean {
  const whole = fold(password)
  const rest = pieces(context).reduce((text, piece) => text.replaceAll(piece, ''), whole)
  return rest !== whole && codePoints(rest) < ownLength
}

/** Longest first: removing a name that is part of a longer one would leave the rest of it. */
function pieces({ email, displayName, shopName }: PasswordOwner & { shopName: string }): string[] {
  const named = [email.slice(0, email.lastIndexOf('@')), displayName, shopName].map((text) => fold(text).trim())
  const spaceless = named.map((text) => text.replaceAll(/\s+/g, ''))
  return [...new Set([...named, ...spaceless])]
    .filter((piece) => codePoints(piece) >= shortestPiece)
    .sort((a, b) => b.length - a.length)
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/**
 * Refuses a password that breaks the shop's rules.
 *
 * @throws AppError PASSWORD_POLICY_VIOLATION with the ids of the rules
 */
export async function assertPassword(
  shop: Pick<ShopContext, 'db'>,
  password: string,
  owner: PasswordOwner
): Promise<void> {
  const minLength = setting(shop.db, 'registration.passwordMinLength')
  const rules = await checkPassword(password, { ...owner, shopName: setting(shop.db, 'shop.name'), minLength })
  if (rules.length === 0) return
  throw new AppError('PASSWORD_POLICY_VIOLATION', messageFor(rules, minLength), { reason: 'password_policy', rules })
}

function messageFor(rules: readonly PasswordRule[], minLength: number): string {
  if (rules.includes('min_length')) return `The password must have at least ${minLength} characters.`
  if (rules.includes('max_length')) return `The password must have at most ${maxLength} characters.`
  if (rules.includes('common')) return 'This password is too common. Please choose another one.'
  if (rules.includes('personal')) return "The password is too similar to your name, your email or the shop's name."
  return 'The password contains invalid characters.'
}
