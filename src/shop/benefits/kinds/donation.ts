import { eq } from 'drizzle-orm'
import type { Tx } from '../../../platform/db/database.ts'
import { formatMoney } from '../../../platform/money.ts'
import { grantSchemas } from '../../catalog/grants.ts'
import type { GrantSpec } from '../../catalog/grants.ts'
import { amount } from '../../../platform/input-fields.ts'
import { emit } from '../../webhooks/emit.ts'
import { setting } from '../../settings/settings.ts'
import { ensureCampaign } from '../plans.ts'
import { donationsOf } from '../records.ts'
import { donations } from '../schema.ts'
import { toDonation } from '../view.ts'
import { givenByHand } from './kind.ts'
import type { BenefitKind, Recipient } from './kind.ts'

export const donation: BenefitKind<'donation'> = {
  plural: 'donations',
  table: donations,
  since: 'created_at',
  sharesTotal: true,
  guests: 'nothing to use',
  start,
  end(tx, id, line, now) {
    const row = tx.orm.select().from(donations).where(eq(donations.id, id)).get()
    if (row === undefined) return null
    const set = { revokedAt: row.revokedAt ?? now, ...line }
    tx.orm.update(donations).set(set).where(eq(donations.id, id)).run()
    return row.revokedAt === null ? { gatewayId: null } : null
  },
  list: (db, userId) =>
    donationsOf(db, userId).donations.map((record) => {
      const { id, orderId, campaign, amountMinor, currency } = record
      const state = formatMoney(amountMinor, currency)
      const line = { id, what: campaign ?? 'donation', state, until: null, orderId }
      return { view: toDonation(record), line, module: 'donations' }
    }),
  words: () => 'A donation: all of it goes to the cause',
  renewal: null,
  byHand: givenByHand({
    input: (currency) =>
      grantSchemas.donation.extend({ amount: amount(currency).refine((minor) => minor > 0, 'Must be above 0.') }),
    options: {
      amount: { value: '<n>', about: "amount in the shop's currency" },
      campaign: { value: '<slug>', about: 'campaign of the donation' }
    },
    give: (tx, to, { amount: amountMinor, ...grant }, now) =>
      start(tx, { ...to, amountMinor, currency: setting(tx, 'shop.currency') }, grant, now)
  })
}

/** The amount already contains the quantity. */
function start(
  tx: Tx,
  to: Pick<Recipient, 'userId' | 'amountMinor' | 'currency' | 'source'>,
  spec: GrantSpec<'donation'>,
  now: number
): number {
  const { userId, amountMinor, currency, source } = to
  const campaignId = spec.campaign === null ? null : ensureCampaign(tx, spec.campaign)
  const { id } = tx.orm
    .insert(donations)
    .values({ userId, campaignId, amountMinor, currency, createdAt: now, ...source })
    .returning({ id: donations.id })
    .get()
  emit(tx, 'donation.received', { donationId: id, orderId: source.orderId, amountMinor, currency }, now)
  return id
}
