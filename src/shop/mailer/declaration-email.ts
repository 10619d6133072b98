import type { ShopContext } from '../context.ts'
import { declaredLines, findDeclaration } from '../declarations/find.ts'
import type { DeclarationRow } from '../declarations/find.ts'
import type { MailData } from '../mail/queue.ts'
import { wordsOf } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email, EmailFact } from './email.ts'

/**
 * The acknowledgement that a buyer's withdrawal or cancellation has arrived, with its content and time, on a durable medium
 * (directive 2011/83/EU, article 11a(4); § 312k(4) BGB).
 *
 * @throws ObsoleteEmailError when its person is erased
 */
export function declarationEmail(shop: ShopContext, data: MailData['declaration_received']): Email {
  const row = findDeclaration(shop.db, data.declarationId)
  if (row === undefined || row.email === null) throw new ObsoleteEmailError('the person is erased')
  const { t, time } = wordsOf(shop)
  const { kind, contract, orderId, message } = row
  const isKnown = orderId !== null
  return {
    subject: t(`mail.${kind}.subject`, { contract }),
    opening: [t(`mail.${kind}.text`, { shop: setting(shop.db, 'shop.name'), time: time(row.receivedAt) })],
    facts: declarationFacts(shop, row),
    // Anyone can name another person's email, and a long text would be their advertisement.
    blocks: message === null || !isKnown ? [] : [{ title: messageTitle(shop, row), lines: message.split('\n') }],
    closing: [
      ...(isKnown ? [] : [t('mail.declaration.unknown')]),
      ...(isKnown && kind === 'withdrawal' ? [t('mail.withdrawal.next')] : []),
      t('mail.declaration.notYou')
    ],
    budget: isKnown ? 'counted' : 'limited',
    links: {}
  }
}

/** What a declaration says, and when it arrived. */
export function declarationFacts(shop: ShopContext, row: DeclarationRow): EmailFact[] {
  const { t, time } = wordsOf(shop)
  return [
    { label: t('declare.name'), value: row.name },
    { label: t('declare.contract'), value: row.contract },
    ...contentOf(shop, row),
    { label: t('declare.received'), value: time(row.receivedAt) }
  ]
}

function contentOf(shop: ShopContext, row: DeclarationRow): EmailFact[] {
  const { t, day } = wordsOf(shop)
  if (row.kind === 'withdrawal') {
    if (row.itemIds === null && row.message !== null) return []
    const lines = declaredLines(shop.db, row).map(({ quantity, name }) => `${quantity} × ${name}`)
    return [{ label: t('declare.products'), value: lines.join(', ') || t('declare.everything') }]
  }
  return [
    { label: t('cancel.kind'), value: t(row.isForCause ? 'cancel.forCause' : 'cancel.ordinary') },
    { label: t('cancel.wanted'), value: row.wantedEnd ?? t('cancel.soonest') },
    ...(row.endsAt === null ? [] : [{ label: t('cancel.ends'), value: day(row.endsAt) }])
  ]
}

/** What the text of a declaration is about. */
export function messageTitle(shop: ShopContext, { kind, itemIds }: Pick<DeclarationRow, 'kind' | 'itemIds'>): string {
  const { t } = wordsOf(shop)
  if (kind === 'cancellation') return t('cancel.reason')
  return t(itemIds === null ? 'declare.products' : 'declare.note')
}
