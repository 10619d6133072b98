import type { Db } from '../../platform/db/database.ts'
import type { ShopContext } from '../context.ts'
import { getCard, stateOf } from '../gift-cards/cards.ts'
import { readCode, withHyphens } from '../gift-cards/code.ts'
import type { MailData } from '../mail/queue.ts'
import { wordsOf } from '../settings/language.ts'
import { setting } from '../settings/settings.ts'
import { ObsoleteEmailError } from './email.ts'
import type { Email } from './email.ts'

/**
 * A gift card with its code, for its recipient.
 *
 * @throws ObsoleteEmailError when it cannot be used, when its recipient is erased, and when the secret key has changed
 */
export function giftCardEmail(shop: ShopContext, data: MailData['gift_card'], now: number, recipient: string): Email {
  const card = getCard(shop.db, data.giftCardId)
  const code = readCode(shop.db, card)
  if (card.recipientEmail !== recipient) throw new ObsoleteEmailError('the gift card has another recipient')
  if (stateOf(card, now) !== 'active') throw new ObsoleteEmailError('the gift card cannot be used')
  if (code === null) throw new ObsoleteEmailError('the code of the gift card is lost')
  const { t, money, day } = wordsOf(shop)
  const name = setting(shop.db, 'shop.name')
  const { balanceMinor, currency, expiresAt, message } = card
  return {
    subject: t('mail.giftCard.subject', { shop: name }),
    opening: [t('mail.giftCard.text', { shop: name })],
    facts: [
      { label: t('giftCard.code'), value: withHyphens(code) },
      { label: t('giftCard.balance'), value: money(balanceMinor, currency) },
      ...(expiresAt === null ? [] : [{ label: t('giftCard.until'), value: day(expiresAt - 1) }])
    ],
    blocks: message === null ? [] : [{ title: t('giftCard.message'), lines: message.split('\n') }],
    closing: [t('mail.giftCard.keep')],
    action: { label: t('mail.giftCard.button', { shop: name }), url: shop.publicUrl() },
    links: {}
  }
}

/** The language of a gift card's recipient. */
export function giftCardLanguage(db: Db, id: number): string | null {
  return getCard(db, id).language
}
