import { eq, lt, sql, sum } from 'drizzle-orm'
import { z } from 'zod'
import { readSnapshot } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { giftCardEntries, giftCardEntryKinds, giftCards } from '../../shop/gift-cards/schema.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDays, spanOf } from './days.ts'
import { amount, defineReport, money } from './report.ts'
import type { Column } from './report.ts'

type Kind = (typeof giftCardEntryKinds)[number]

/** What came onto the gift cards of a currency in some days and what left them, in minor units, and what is owed on them. */
type Liability = {
  currency: string
  openingMinor: number
  closingMinor: number
  byKind: Readonly<Record<Kind, number>>
}

const titles: Readonly<Record<Kind, string>> = {
  issued: 'Issued',
  sold: 'Sold',
  used: 'Used',
  returned: 'Returned',
  cancelled: 'Cancelled',
  expired: 'Expired'
}

const columns: readonly Column<Liability>[] = [
  { key: 'currency', kind: 'text', title: 'Currency', value: ({ currency }) => currency },
  { key: 'opening', ...money, title: 'Owed before', value: amount(({ openingMinor }) => openingMinor) },
  ...giftCardEntryKinds.map((kind): Column<Liability> => ({
    key: kind,
    ...money,
    title: titles[kind],
    value: amount(({ byKind }) => byKind[kind])
  })),
  {
    key: 'closing',
    ...money,
    title: 'Owed after',
    isFigure: true,
    value: amount(({ closingMinor }) => closingMinor)
  }
]

/** What the shop owes on gift cards at the beginning and at the end of some days, and what changed it. */
export const giftCardsReport = defineReport({
  name: 'gift-cards',
  title: 'Gift cards',
  about: 'what is owed on gift cards: sold, used, returned and expired',
  example: 'report gift-cards --from 2026-01-01 --to 2026-12-31',
  period: shopDays,
  input: z.object({}),
  columns,
  totals: { label: 'Total', by: ({ currency }) => currency },
  read: ({ shop: { db }, period: days }) => ({
    rows: readSnapshot(db, () => liabilityOf(db, spanOf(db, days))),
    notes: [
      'The balance of gift cards is owed until it pays an order, and does not count as turnover. Tax is due when they are used (multi-purpose vouchers, directive 2006/112/EC, article 73a).'
    ]
  })
})

function liabilityOf(db: Db, { startsAt, endsAt }: { startsAt: number; endsAt: number }): Liability[] {
  const isBefore = sql<number>`${giftCardEntries.at} < ${startsAt}`
  const sums = db.orm
    .select({
      currency: giftCards.currency,
      kind: giftCardEntries.kind,
      isBefore,
      minor: sum(giftCardEntries.amountMinor).mapWith(Number)
    })
    .from(giftCardEntries)
    .innerJoin(giftCards, eq(giftCards.id, giftCardEntries.giftCardId))
    .where(lt(giftCardEntries.at, endsAt))
    .groupBy(giftCards.currency, giftCardEntries.kind, isBefore)
    .all()
  const currencies = [...new Set([setting(db, 'shop.currency'), ...sums.map(({ currency }) => currency)])].toSorted()
  return currencies.map((currency) => {
    const own = sums.filter((row) => row.currency === currency)
    const total = (rows: typeof own): number => rows.reduce((sumMinor, { minor }) => sumMinor + minor, 0)
    const within = (kind: Kind): number => total(own.filter((row) => row.kind === kind && row.isBefore === 0))
    return {
      currency,
      openingMinor: total(own.filter((row) => row.isBefore === 1)),
      closingMinor: total(own),
      byKind: {
        issued: within('issued'),
        sold: within('sold'),
        used: within('used'),
        returned: within('returned'),
        cancelled: within('cancelled'),
        expired: within('expired')
      }
    }
  })
}
