import { percent } from '../../platform/texts/languages.ts'
import { findAffiliateById } from '../affiliates/find.ts'
import type { AffiliateRow } from '../affiliates/find.ts'
import type { ShopContext } from '../context.ts'
import type { MailData } from '../mail/queue.ts'
import { findFailure, getPayout } from '../payouts/find.ts'
import { statementUrls } from '../payouts/statement.ts'
import { getReferral } from '../referrals/store.ts'
import { wordsOf } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { getRecipient } from './account-emails.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'

/** The lines of an email about referrals; the account's page has all of them. */
const mostLines = 30

/**
 * What an operator decided about an affiliate's account, with the affiliate's code when it was approved.
 *
 * @throws ObsoleteEmailError when the affiliate does not exist or the account is erased
 */
export function affiliateDecisionEmail(shop: ShopContext, data: MailData['affiliate_decision']): Email {
  const { code } = getAffiliateToMail(shop, data.affiliateId)
  const { t } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const texts = {
    approve: {
      subject: t('mail.affiliate.approvedSubject', { shop: name }),
      opening: [t('mail.affiliate.approved', { shop: name }), t('mail.affiliate.code', { code })]
    },
    reject: {
      subject: t('mail.affiliate.rejectedSubject', { shop: name }),
      opening: [t('mail.affiliate.rejected', { shop: name })]
    },
    deactivate: {
      subject: t('mail.affiliate.deactivatedSubject', { shop: name }),
      opening: [t('mail.affiliate.deactivated', { shop: name }), t('mail.affiliate.keeps')]
    }
  }
  return { ...texts[data.decision], closing: [], links: {} }
}

/**
 * From which day on an affiliate has another commission rate.
 *
 * @throws ObsoleteEmailError as `affiliateDecisionEmail`
 */
export function affiliateRateEmail(shop: ShopContext, data: MailData['affiliate_rate']): Email {
  getAffiliateToMail(shop, data.affiliateId)
  const { t, lang, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const rate = percent(data.rateBps / 100, { language: lang })
  return {
    subject: t('mail.rate.subject', { shop: name }),
    opening: [t('mail.rate.text', { day: day(data.from), rate, shop: name }), t('mail.rate.before')],
    closing: [],
    links: {}
  }
}

/**
 * What an operator decided about referrals of an affiliate, or credited them with, and why.
 *
 * @throws ObsoleteEmailError as `affiliateDecisionEmail`
 */
export function affiliateReferralsEmail(shop: ShopContext, data: MailData['affiliate_referrals']): Email {
  getAffiliateToMail(shop, data.affiliateId)
  const { t, money } = wordsOf(shop)
  const rows = data.referralIds.map((id) => getReferral(shop.db, id))
  const more = rows.length - mostLines
  return {
    subject: t('mail.referrals.subject', { shop: setting(shop.db, 'shop.name') }),
    opening: [t(`mail.referrals.${data.decision}`, { count: rows.length }), ...reasonOf(shop, data.reason)],
    table: {
      lines: rows.slice(0, mostLines).map(({ id, orderId, amountMinor, currency }) => ({
        label: t('mail.referrals.line', { referral: id, order: orderId }),
        amount: money(amountMinor, currency),
        picture: null
      })),
      sums: []
    },
    closing: more > 0 ? [t('mail.referrals.more', { count: more })] : [],
    links: {}
  }
}

/**
 * What an operator added to an affiliate's balance without an order, or took from it, and why.
 *
 * @throws ObsoleteEmailError as `affiliateDecisionEmail`
 */
export function affiliateBonusEmail(shop: ShopContext, data: MailData['affiliate_bonus']): Email {
  getAffiliateToMail(shop, data.affiliateId)
  const { t, money } = wordsOf(shop)
  const { amountMinor, currency, reason } = data
  const amount = money(Math.abs(amountMinor), currency)
  return {
    subject: t('mail.bonus.subject', { shop: setting(shop.db, 'shop.name') }),
    opening: [t(amountMinor > 0 ? 'mail.bonus.added' : 'mail.bonus.taken', { amount }), ...reasonOf(shop, reason)],
    closing: [],
    links: {}
  }
}

/**
 * That an affiliate was paid, or that the money came back, with the link of the statement.
 *
 * @throws ObsoleteEmailError as `affiliateDecisionEmail`
 */
export function affiliatePayoutEmail(shop: ShopContext, data: MailData['affiliate_payout']): Email {
  getAffiliateToMail(shop, data.affiliateId)
  const { t, money, day } = wordsOf(shop)
  const payout = getPayout(shop.db, data.payoutId)
  const { id, amountMinor, currency, reference, createdAt } = payout
  const words = { shop: setting(shop.db, 'shop.name'), amount: money(amountMinor, currency) }
  const failed = data.step === 'failed'
  const { pdfUrl, csvUrl } = statementUrls(shop, payout)
  return {
    subject: t(failed ? 'mail.payout.failedSubject' : 'mail.payout.subject', words),
    opening: failed
      ? [t('mail.payout.failed', words), ...reasonOf(shop, findFailure(shop.db, id)?.reason ?? null)]
      : [t('mail.payout.text', words)],
    facts: [
      { label: t('doc.statementNumber'), value: String(id) },
      { label: t('doc.paidOn'), value: day(createdAt) },
      ...(reference === null ? [] : [{ label: t('doc.reference'), value: reference }])
    ],
    action: { label: t('mail.payout.button'), url: pdfUrl },
    also: { label: t('mail.payout.csv'), url: csvUrl },
    closing: failed ? [t('mail.payout.again')] : [],
    links: {}
  }
}

function reasonOf(shop: ShopContext, reason: string | null): string[] {
  return reason === null ? [] : [wordsOf(shop).t('mail.affiliate.reason', { reason })]
}

function getAffiliateToMail(shop: ShopContext, affiliateId: number): AffiliateRow {
  const affiliate = findAffiliateById(shop.db, affiliateId)
  if (affiliate === undefined) throw new ObsoleteEmailError('the affiliate no longer exists')
  getRecipient(shop, affiliate.userId)
  return affiliate
}
