import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm'
import { amountCell, toCsv } from '../../platform/csv.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import { documentPdf } from '../../platform/pdf/document.ts'
import type { DocumentTable, DocumentText } from '../../platform/pdf/document.ts'
import { postalLines } from '../../platform/postal/address.ts'
import { dayText, percent, textsIn } from '../../platform/texts/languages.ts'
import { findUserById, getUserById } from '../accounts/find.ts'
import { users } from '../accounts/schema.ts'
import { toProfile } from '../accounts/view.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import { percentOrNull } from '../affiliates/rates.ts'
import { affiliates } from '../affiliates/schema.ts'
import type { ShopContext } from '../context.ts'
import { payouts } from '../referrals/schema.ts'
import type { PayoutRow } from '../referrals/store.ts'
import type { Words } from '../settings/language.ts'
import { sellerLines, sellerOf } from '../settings/seller.ts'
import { setting } from '../settings/settings.ts'
import { shopDay } from '../settings/shop-days.ts'
import { entriesOfPayout, findFailure, findPayout } from './find.ts'
import type { PaidEntry } from './find.ts'

/** Who pays whom, as the statement of a payout names them. It is stored with the payout: a statement never changes. */
export function partiesOf(db: Db, affiliateId: number): Pick<PayoutRow, 'seller' | 'payee'> {
  const { code, userId } = getAffiliateById(db, affiliateId)
  const user = getUserById(db, userId)
  const { firstName: _first, lastName: _last, company, ...place } = user.address ?? {}
  const texts = textsIn(user.language ?? setting(db, 'storefront.language'))
  const language = texts.textLanguage
  const [seller = '', ...legal] = sellerLines(sellerOf(db), texts)
  const { firstName, lastName } = toProfile(db, user)
  const name = `${firstName ?? ''} ${lastName ?? ''}`.trim()
  const lines = [
    name === '' ? user.displayName : name,
    user.companyName ?? company ?? '',
    ...postalLines(place, language)
  ]
  return {
    seller: { name: seller, legal: legal.join('\n') },
    // A line break would let the affiliate write lines of their own.
    payee: { code, lines: lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()).filter((line) => line !== '') }
  }
}

/** The statement of a payout as a PDF. */
export function statementPdf(db: Db, payout: PayoutRow, words: Words): Promise<Uint8Array<ArrayBuffer>> {
  const unreadable = words.t('doc.unreadableCsv')
  return documentPdf(statementText(db, payout, words), { issuedAt: payout.createdAt, unreadable, texts: words })
}

/** The statement of a payout as people read it: what it paid for each order, what it set off, and whether it came back. */
export function statementText(db: Db, payout: PayoutRow, words: Words): DocumentText {
  const { t } = words
  const { id, seller, payee, reference, createdAt } = payout
  const entries = entriesOfPayout(db, id)
  const failure = findFailure(db, id)
  const fact = (label: string, value: string | null) => (value === null ? [] : [{ label, value }])
  return {
    title: t('doc.statement'),
    number: String(id),
    facts: [
      ...fact(t('doc.statementNumber'), String(id)),
      ...fact(t('doc.paidOn'), words.day(createdAt)),
      ...fact(t('doc.reference'), reference),
      ...fact(t('doc.affiliate'), payee?.code ?? null)
    ],
    seller: [seller.name, ...seller.legal.split('\n')].map((line) => line.trim()).filter((line) => line !== ''),
    buyer: payee?.lines ?? [],
    table: tableOf(payout, entries, words),
    sums: sumsOf(payout, entries, words),
    taxes: [],
    notes: failure === undefined ? [] : [t('doc.payoutFailed', { day: words.day(failure.createdAt) })]
  }
}

function tableOf({ currency }: PayoutRow, entries: readonly PaidEntry[], { t, lang, money }: Words): DocumentTable {
  return {
    columns: [
      { title: t('doc.paidFor'), x: 50, width: 210, align: 'left' },
      { title: t('doc.orderDate'), x: 265, width: 110, align: 'left' },
      { title: t('doc.rate'), x: 380, width: 75, align: 'right' },
      { title: t('doc.amount'), x: 460, width: 85, align: 'right' }
    ],
    rows: entries.map(({ orderId, day, rateBps, amountMinor }) => [
      orderId === null ? t('doc.bonus') : t(amountMinor > 0 ? 'doc.setOff' : 'doc.commission', { order: orderId }),
      day === null ? '' : dayText(day, { lang, timeZone: 'UTC' }),
      rateBps === null ? '' : percent(rateBps / 100, { language: lang }),
      money(-amountMinor, currency)
    ])
  }
}

function sumsOf({ amountMinor, currency }: PayoutRow, entries: readonly PaidEntry[], { t, money }: Words) {
  const setOffMinor = entries.reduce((sum, entry) => sum + Math.max(0, entry.amountMinor), 0)
  const sum = (label: string, minor: number, isTotal = false) => ({ label, amount: money(minor, currency), isTotal })
  const parts =
    setOffMinor === 0 ? [] : [sum(t('doc.earned'), amountMinor + setOffMinor), sum(t('doc.setOffs'), -setOffMinor)]
  return [...parts, sum(t('doc.paidOut'), amountMinor, true)]
}

const csvColumns = ['payout', 'paid_on', 'reference', 'state', 'affiliate', 'referral', 'order', 'order_date']

/** The statement of a payout as CSV, a row for each referral. Amounts are in major units; a debt is negative. */
export function statementCsv(db: Db, { id, createdAt, reference, payee, currency }: PayoutRow): string {
  const state = findFailure(db, id) === undefined ? 'paid' : 'failed'
  const head = [id, shopDay(db, createdAt), reference, state, payee?.code ?? null]
  const rows = entriesOfPayout(db, id).map(({ referralId, orderId, day, rateBps, amountMinor }) => [
    ...head,
    referralId,
    orderId,
    day,
    percentOrNull(rateBps),
    amountCell(-amountMinor, currency),
    currency
  ])
  return toCsv([...csvColumns, 'rate_percent', 'amount', 'currency'], rows)
}

type Linked = Pick<ShopContext, 'keys' | 'publicUrl'>

/** A statement must be readable for as long as the affiliate has to keep it. */
const linkLifeMs = 10 * 366 * 24 * 60 * 60_000
const subject = 'payout statement'

/** The addresses of a statement, which need no session: a person who has one can read it. They stay the same. */
export function statementUrls({ keys, publicUrl }: Linked, { id, createdAt }: Pick<PayoutRow, 'id' | 'createdAt'>) {
  const token = signLink(keys.emailToken, { id, expiresAt: createdAt + linkLifeMs }, subject)
  const url = `${publicUrl()}/account/payout/${token}`
  return { pdfUrl: url, csvUrl: `${url}?format=csv` }
}

/** The payout of a statement's address; undefined for a forged or an expired one. */
export function findStatement(
  db: Db,
  keys: Pick<Keys, 'emailToken'>,
  token: string,
  now: number
): PayoutRow | undefined {
  const link = readLink(token)
  if (link === undefined || link.expiresAt <= now || !link.isSigned(keys.emailToken, subject)) return undefined
  return findPayout(db, link.id)
}

/** The language of the person whom a payout pays; null for the shop's own. */
export function payeeLanguage(db: Db, { affiliateId }: PayoutRow): string | null {
  return findUserById(db, getAffiliateById(db, affiliateId).userId)?.language ?? null
}

/**
 * Removes the payee from the payouts to erased accounts that were made before a time, among the `limit` payouts that follow
 * the id `after`. Returns the id to continue after; null at the first payout that is not from before.
 */
export function forgetPayees(
  tx: Tx,
  before: number,
  { after, limit }: { after: number; limit: number }
): number | null {
  const oldest = tx.orm
    .select({ id: payouts.id, createdAt: payouts.createdAt, status: users.status })
    .from(payouts)
    // The plus keeps SQLite from reading the payouts of each affiliate and sorting them.
    .innerJoin(affiliates, eq(affiliates.id, sql`+${payouts.affiliateId}`))
    .innerJoin(users, eq(users.id, affiliates.userId))
    .where(gt(payouts.id, after))
    .orderBy(asc(payouts.id))
    .limit(limit)
    .all()
  const old = oldest.filter(({ createdAt }) => createdAt < before)
  const erased = old.flatMap(({ id, status }) => (status === 'erased' ? [id] : []))
  const named = and(inArray(payouts.id, erased), isNotNull(payouts.payee))
  if (erased.length > 0) tx.orm.update(payouts).set({ payee: null }).where(named).run()
  return old.length === limit ? (old.at(-1)?.id ?? null) : null
}
