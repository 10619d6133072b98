import type { MailData } from '../mail/queue.ts'
import { findEmailToken } from '../accounts/email-tokens.ts'
import type { EmailTokenKind } from '../accounts/email-tokens.ts'
import { findUserByEmail, findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { ShopContext } from '../context.ts'
import { accountPageUrl } from '../settings/page-url.ts'
import type { AccountPage } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { formatDay, formatTime } from './email-times.ts'

/** How long before its erasure the owner of a dormant account gets an email (customers/retention.ts). */
const noticeMs = 30 * 24 * 60 * 60_000

// No email greets the recipient by name: anyone can register another person's address with an advertisement as the
// name, and the shop would send that advertisement.

/**
 * The email with the link that verifies a new account's address.
 *
 * @throws ObsoleteEmailError when the account is erased or the link is used or expired
 */
export function verificationEmail(shop: ShopContext, data: MailData['verify_email'], now: number): Email {
  getRecipient(shop, data.userId)
  const { url, until } = linkTo(shop, 'verify', data.tokenId, now)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Please verify your email for ${name}`,
    opening: [`An account at ${name} was created with this email address. Please confirm that the address is yours.`],
    action: { label: 'Verify my email', url },
    closing: [
      `You can use this link once, until ${until}.`,
      'If you did not create this account, you can ignore this email.'
    ],
    links: { verify: url }
  }
}

/**
 * The email with the link that sets a new password.
 *
 * @throws ObsoleteEmailError when the account is erased or the link is used or expired
 */
export function passwordResetEmail(shop: ShopContext, data: MailData['reset_password'], now: number): Email {
  getRecipient(shop, data.userId)
  const { url, until } = linkTo(shop, 'reset', data.tokenId, now)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Choose a new password for ${name}`,
    opening: [`We received a request to reset the password of your account at ${name}.`],
    action: { label: 'Choose a new password', url },
    closing: [
      `You can use this link once, until ${until}.`,
      'If you did not request this, you can ignore this email. Your password does not change.'
    ],
    links: { reset: url }
  }
}

/**
 * The email with the link that makes an address the account's.
 *
 * @throws ObsoleteEmailError when the account is erased, the link is used, replaced or expired, or the address belongs to
 *   another account
 */
export function confirmEmailEmail(shop: ShopContext, data: MailData['confirm_email'], now: number): Email {
  getRecipient(shop, data.userId)
  const { url, until, newEmail } = linkTo(shop, 'email', data.tokenId, now)
  const holder = newEmail === null ? undefined : findUserByEmail(shop.db, newEmail)
  if (holder !== undefined && holder.id !== data.userId)
    throw new ObsoleteEmailError('its address belongs to another account')
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Please confirm your new email for ${name}`,
    opening: [`The owner of an account at ${name} wants to use this email address. Please confirm that it is yours.`],
    action: { label: 'Use this email', url },
    closing: [
      `You can use this link once, until ${until}.`,
      'If you did not request this, you can ignore this email. Nothing changes.'
    ],
    links: { email: url }
  }
}

/**
 * The notice to the old address of an account, before and after its email changes.
 *
 * @throws ObsoleteEmailError when the account is erased, or the link that undoes the change is used or expired
 */
export function emailChangedEmail(shop: ShopContext, data: MailData['email_changed'], now: number): Email {
  const { userId, step, tokenId } = data
  getRecipient(shop, userId)
  const name = setting(shop.db, 'shop.name')
  if (step === 'requested')
    return {
      subject: `Your email for ${name} is about to change`,
      opening: [
        `Someone who knows your password wants to use another email for your account at ${name}. The email changes when they open the link that we have sent to the new address. Until then, log in with this one.`
      ],
      closing: ['If it was not you, change your password now. This also stops the change.'],
      links: {}
    }
  return {
    subject: `Your email for ${name} was changed`,
    opening: [`Your account at ${name} has another email now. You cannot log in with this one any more.`],
    closing: ['If it was not you, contact the shop immediately.'],
    ...(tokenId === undefined ? { links: {} } : undoOf(shop, tokenId, now))
  }
}

function undoOf(shop: ShopContext, tokenId: number, now: number): Pick<Email, 'action' | 'closing' | 'links'> {
  const { url, until } = linkTo(shop, 'undo', tokenId, now)
  return {
    action: { label: 'Undo the change', url },
    closing: [
      `If it was not you, undo the change with this link, until ${until}. You choose a new password, and all devices are logged out.`
    ],
    links: { undo: url }
  }
}

const removals: Readonly<Record<NonNullable<MailData['password_changed']['removed']>[number], string>> = {
  address: 'We removed the saved address, because someone else may have entered it. Enter it again if it was yours.',
  billingEmail: 'The account had a billing email other than this one. We removed it. Enter it again if it is yours.',
  emailChange: 'We stopped a change of the email that was waiting for its link.'
}

/**
 * The notice that an account's password has changed.
 *
 * @throws ObsoleteEmailError when the account is erased
 */
export function passwordChangedEmail(shop: ShopContext, data: MailData['password_changed']): Email {
  getRecipient(shop, data.userId)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Your password for ${name} was changed`,
    opening: [
      `The password of your account at ${name} was changed. All other devices were logged out.`,
      ...(data.removed ?? []).map((field) => removals[field])
    ],
    closing: ['If you did not change it, reset your password immediately and contact the shop.'],
    links: {}
  }
}

/**
 * The notice that an account will be erased because it is not used.
 *
 * @throws ObsoleteEmailError when the account is erased, or was used since
 */
export function dormantEmail(shop: ShopContext, data: MailData['account_dormant']): Email {
  const { dormantMailAt } = getRecipient(shop, data.userId)
  if (dormantMailAt === null) throw new ObsoleteEmailError('the account is in use again')
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Your account at ${name} will be deleted`,
    opening: [
      `You have not used your account at ${name} for a long time. We delete it on ${formatDay(dormantMailAt + noticeMs)}, with your name, email and addresses.`,
      'If you want to keep it, log in once before that day.'
    ],
    closing: ['If you no longer need it, you do not have to do anything.'],
    links: {}
  }
}

/**
 * The answer to an affiliate application, with the affiliate's code when it was approved.
 *
 * @throws ObsoleteEmailError when the affiliate does not exist or the account is erased
 */
export function affiliateDecisionEmail(shop: ShopContext, data: MailData['affiliate_decision']): Email {
  const affiliate = findAffiliateById(shop.db, data.affiliateId)
  if (affiliate === undefined) throw new ObsoleteEmailError('the affiliate no longer exists')
  getRecipient(shop, affiliate.userId)
  const name = setting(shop.db, 'shop.name')
  if (!data.approved) {
    return {
      subject: `Your affiliate application at ${name}`,
      opening: [
        `Thank you for applying to become an affiliate of ${name}. Unfortunately, we cannot accept your application.`
      ],
      closing: [],
      links: {}
    }
  }
  return {
    subject: `You are now an affiliate of ${name}`,
    opening: [
      `Welcome! Your application to become an affiliate of ${name} was approved.`,
      `Your code is ${affiliate.code}. Add ?ref=${affiliate.code} to any link to the shop. You earn a commission on orders placed through that link.`
    ],
    closing: [],
    links: {}
  }
}

function getRecipient(shop: ShopContext, userId: number): UserRow {
  const user = findUserById(shop.db, userId)
  if (user === undefined || user.status === 'erased') throw new ObsoleteEmailError('the account is erased')
  return user
}

const pages: Readonly<Record<EmailTokenKind, AccountPage>> = {
  verify: 'emails.verifyUrl',
  reset: 'emails.resetUrl',
  email: 'emails.newEmailUrl',
  undo: 'emails.undoEmailUrl'
}

function linkTo(
  shop: ShopContext,
  kind: EmailTokenKind,
  tokenId: number,
  now: number
): { url: string; until: string; newEmail: string | null } {
  const found = findEmailToken(shop.db, shop.keys, tokenId, now)
  if (found === undefined) throw new ObsoleteEmailError('its link was used or has expired')
  const { token, expiresAt, newEmail } = found
  return { url: accountPageUrl(shop, pages[kind], token), until: formatTime(expiresAt), newEmail }
}
