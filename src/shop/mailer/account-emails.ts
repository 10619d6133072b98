import type { MailData } from '../mail/queue-mail.ts'
import { findEmailToken } from '../accounts/email-tokens.ts'
import { findUserById } from '../accounts/find.ts'
import type { UserRow } from '../accounts/rows.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { ShopContext } from '../context.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'

// No email greets by name: anyone can register somebody else's email with an advertisement as the name, and the shop
// would send it.

export function verificationEmail(shop: ShopContext, data: MailData['verify_email'], now: number): Email {
  livingUser(shop, data.userId)
  const { url, until } = linkTo(shop, 'verify', data.tokenId, now)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Please verify your email for ${name}`,
    opening: [
      `Somebody, hopefully you, opened an account at ${name} with this email. Please confirm that it is yours.`
    ],
    action: { label: 'Verify my email', url },
    closing: [`The link works once, until ${until}.`, 'If it was not you, simply leave this message be.'],
    links: { verify: url }
  }
}

export function passwordResetEmail(shop: ShopContext, data: MailData['reset_password'], now: number): Email {
  livingUser(shop, data.userId)
  const { url, until } = linkTo(shop, 'reset', data.tokenId, now)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Choose a new password for ${name}`,
    opening: [`Somebody, hopefully you, asked for a new password for your account at ${name}.`],
    action: { label: 'Choose a new password', url },
    closing: [
      `The link works once, until ${until}.`,
      'If it was not you, leave this message be: your password stays as it is.'
    ],
    links: { reset: url }
  }
}

export function passwordChangedEmail(shop: ShopContext, data: MailData['password_changed']): Email {
  livingUser(shop, data.userId)
  const name = setting(shop.db, 'shop.name')
  return {
    subject: `Your password for ${name} was changed`,
    opening: [`The password of your account at ${name} has just been changed, and all other devices were logged out.`],
    closing: ['If it was not you, ask for a new password at once and tell the shop.'],
    links: {}
  }
}

export function affiliateDecisionEmail(shop: ShopContext, data: MailData['affiliate_decision']): Email {
  const affiliate = findAffiliateById(shop.db, data.affiliateId)
  if (affiliate === undefined) throw new ObsoleteEmailError('the affiliate has gone')
  livingUser(shop, affiliate.userId)
  const name = setting(shop.db, 'shop.name')
  if (!data.approved) {
    return {
      subject: `Your application as an affiliate of ${name}`,
      opening: [
        `Thank you for applying as an affiliate of ${name}. We are sorry that we cannot take you in at present.`
      ],
      closing: [],
      links: {}
    }
  }
  return {
    subject: `You are an affiliate of ${name}`,
    opening: [
      `Welcome: your application as an affiliate of ${name} was accepted.`,
      `Your code is ${affiliate.code}. Add ?ref=${affiliate.code} to any address of the shop to be credited for what is bought there.`
    ],
    closing: [],
    links: {}
  }
}

function livingUser(shop: ShopContext, userId: number): UserRow {
  const user = findUserById(shop.db, userId)
  if (user === undefined || user.status === 'erased') throw new ObsoleteEmailError('the account has gone')
  return user
}

function linkTo(
  shop: ShopContext,
  kind: 'verify' | 'reset',
  tokenId: number,
  now: number
): { url: string; until: string } {
  const found = findEmailToken(shop.db, shop.keys, tokenId, now)
  if (found === undefined) throw new ObsoleteEmailError('its link was used or has expired')
  return { url: `${shop.publicUrl()}/account/${kind}?token=${found.token}`, until: moment(found.expiresAt) }
}

/** `15 January 2026 at 12:00 UTC`: the reader's own time zone is not known. */
function moment(epochMs: number): string {
  const words = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return `${words.format(epochMs)} UTC`
}
