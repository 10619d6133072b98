import type { Texts } from './languages.ts'

/** What each period of a subscription costs after the first one, and from which day; amount and day as text. */
type Renewal = { interval: 'month' | 'year'; amount: string; day: string }

/** What each renewal costs, with a remark if the first order has a discount, which does not count again. */
export function renewalNote(
  { t }: Pick<Texts, 't'>,
  { interval, amount, day }: Renewal,
  isDiscounted: boolean
): string {
  const text = t(`renewal.${interval}`, { amount, day })
  return isDiscounted ? `${t('renewal.discount')} ${text}` : text
}

/** What the buyer owes, for directly above a button that orders: now, and with each period of a subscription. */
export function dueNotes({ t }: Pick<Texts, 't'>, dueNow: string, renewal: Renewal | null): string[] {
  const due = t('pay.due', { amount: dueNow })
  if (renewal === null) return [due]
  const { interval, amount, day } = renewal
  return [due, t(`pay.each.${interval}`, { amount, day })]
}
