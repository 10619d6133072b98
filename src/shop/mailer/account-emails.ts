import { mailboxCode } from '../accounts/mailbox-code.ts'
import type { MailData } from '../mail/queue.ts'
import { findEmailToken } from '../accounts/email-tokens.ts'
import type { EmailTokenKind } from '../accounts/email-tokens.ts'
import { findUserByEmail, findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import type { ShopContext } from '../context.ts'
import { accountPageUrl } from '../settings/page-url.ts'
import type { AccountPage } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'
import { wordsOf } from '../settings/language.ts'

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
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.verify.subject', { shop: name }),
    opening: [t('mail.verify.text', { shop: name })],
    action: { label: t('mail.verify.button'), url },
    budget: 'counted',
    closing: [t('mail.linkOnce', { until }), t('mail.verify.ignore')],
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
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.reset.subject', { shop: name }),
    opening: [t('mail.reset.text', { shop: name })],
    action: { label: t('mail.reset.button'), url },
    budget: 'counted',
    closing: [t('mail.linkOnce', { until }), t('mail.reset.ignore')],
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
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.newEmail.subject', { shop: name }),
    opening: [t('mail.newEmail.text', { shop: name })],
    action: { label: t('mail.newEmail.button'), url },
    budget: 'counted',
    closing: [t('mail.linkOnce', { until }), t('mail.newEmail.ignore')],
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
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  if (step === 'requested')
    return {
      subject: t('mail.emailRequested.subject', { shop: name }),
      opening: [t('mail.emailRequested.text', { shop: name })],
      closing: [t('mail.emailRequested.notYou')],
      links: {}
    }
  return {
    subject: t('mail.emailChanged.subject', { shop: name }),
    opening: [t('mail.emailChanged.text', { shop: name })],
    closing: [t('mail.emailChanged.notYou')],
    ...(tokenId === undefined ? { links: {} } : undoOf(shop, tokenId, now))
  }
}

function undoOf(shop: ShopContext, tokenId: number, now: number): Pick<Email, 'action' | 'closing' | 'links'> {
  const { t } = wordsOf(shop)
  const { url, until } = linkTo(shop, 'undo', tokenId, now)
  return {
    action: { label: t('mail.emailChanged.button'), url },
    closing: [t('mail.emailChanged.undo', { until })],
    links: { undo: url }
  }
}

/**
 * The notice that an account's password has changed.
 *
 * @throws ObsoleteEmailError when the account is erased
 */
export function passwordChangedEmail(shop: ShopContext, data: MailData['password_changed']): Email {
  getRecipient(shop, data.userId)
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.password.subject', { shop: name }),
    opening: [
      t('mail.password.text', { shop: name }),
      ...(data.removed ?? []).map((field) => t(`mail.password.${field}`))
    ],
    closing: [t('mail.password.notYou')],
    links: {}
  }
}

/** The code that proves the mailbox of its recipient. */
export function mailboxCodeEmail(shop: ShopContext, _data: unknown, now: number, recipient: string): Email {
  const code = mailboxCode(shop.keys, recipient, now)
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.code.subject', { code, shop: name }),
    opening: [t('mail.code.text', { code, shop: name }), t('mail.code.minutes')],
    closing: [t('mail.code.ignore')],
    budget: 'counted',
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
  const { t, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: t('mail.dormant.subject', { shop: name }),
    opening: [t('mail.dormant.text', { shop: name, day: day(dormantMailAt + noticeMs) }), t('mail.dormant.keep')],
    closing: [t('mail.dormant.leave')],
    links: {}
  }
}

/** @throws ObsoleteEmailError when the account does not exist or is erased */
export function getRecipient(shop: ShopContext, userId: number): UserRow {
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
  return { url: accountPageUrl(shop, pages[kind], token), until: wordsOf(shop).time(expiresAt), newEmail }
}
