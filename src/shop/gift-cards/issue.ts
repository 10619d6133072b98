import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { isDay } from '../../platform/days.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { amount, check } from '../../platform/input-fields.ts'
import { isLanguage } from '../../platform/texts/languages.ts'
import { emailField, nameField, textField } from '../accounts/fields.ts'
import { endOfShopDay, shopPlace, startOfShopDay } from '../settings/shop-days.ts'
import { issueCard } from './cards.ts'
import type { GiftCardRow } from './cards.ts'

const day = z.string().refine(isDay, 'Must be a day such as 2026-12-24.')

/** Who gets a gift card by email, as an operator or a buyer writes it. */
export const recipientFields = {
  email: emailField,
  message: textField(500)
    .nullish()
    .transform((text) => text?.trim() || null),
  sendOn: day.nullish().transform((text) => text ?? null)
}

/** What an operator types to issue a gift card, in the currency of the shop. */
const cardInput = (currency: string) =>
  z.strictObject({
    amount: amount(currency).transform((minor, context) =>
      check(context, minor, minor > 0 ? undefined : 'Must be above zero.')
    ),
    reason: nameField(200),
    to: emailField.optional(),
    message: recipientFields.message,
    sendOn: recipientFields.sendOn,
    expires: day.optional(),
    language: z.string().refine(isLanguage, 'Must be a language of the shop, such as en.').optional()
  })
export type CardInput = z.input<ReturnType<typeof cardInput>>

/**
 * Issues a gift card for an operator or a person at the desk (`by`), in the currency of the shop.
 *
 * @returns the card and its code, which cannot be shown again
 * @throws AppError VALIDATION_FAILED with the fields
 */
export function issueByOperator(
  db: Db,
  input: CardInput,
  now: number,
  by = 'operator'
): { card: GiftCardRow; code: string } {
  const { currency } = shopPlace(db)
  const { amount: amountMinor, reason, to, message, sendOn, expires, language } = parseWith(cardInput(currency), input)
  if (to === undefined && (message !== null || sendOn !== null))
    throw validationFailed({ to: ['Is required with a message or a day to send it.'] })
  const sendAt = sendOn === null ? null : startOfShopDay(db, sendOn)
  const expiresAt = expires === undefined ? null : endOfShopDay(db, expires)
  if (expiresAt !== null && expiresAt <= Math.max(now, sendAt ?? now))
    throw validationFailed({ expires: ['Must be a day that is not over, and not before it is sent.'] })
  const recipient = to === undefined ? null : { email: to, message, sendAt }
  const card = { amountMinor, currency, recipient, expiresAt, language: language ?? null, origin: { reason } }
  return write(db, (tx) => issueCard(tx, card, by, now))
}
