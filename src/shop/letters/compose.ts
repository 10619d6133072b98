import type { MailData, MailTemplate } from '../mail/queue-mail.ts'
import { z } from 'zod'
import type { ShopContext } from '../context.ts'
import {
  affiliateDecisionLetter,
  passwordChangedLetter,
  resetPasswordLetter,
  verifyEmailLetter
} from './account-letters.ts'
import type { Letter } from './letter.ts'
import { NothingToSay } from './letter.ts'
import { orderReceiptLetter, orderRefundedLetter } from './order-letters.ts'

type Composer = (shop: ShopContext, data: unknown, now: number) => Letter

const id = z.int().positive()
const byToken = z.object({ userId: id, tokenId: id })

const composers: Readonly<Record<MailTemplate, Composer>> = {
  verify_email: composer<'verify_email'>(byToken, verifyEmailLetter),
  reset_password: composer<'reset_password'>(byToken, resetPasswordLetter),
  password_changed: composer<'password_changed'>(z.object({ userId: id }), passwordChangedLetter),
  order_receipt: composer<'order_receipt'>(z.object({ orderId: id }), orderReceiptLetter),
  order_refunded: composer<'order_refunded'>(z.object({ orderId: id, amountMinor: z.int() }), orderRefundedLetter),
  affiliate_decision: composer<'affiliate_decision'>(
    z.object({ affiliateId: id, approved: z.boolean() }),
    affiliateDecisionLetter
  )
}

function composer<T extends MailTemplate>(
  schema: z.ZodType<MailData[T]>,
  write: (shop: ShopContext, data: MailData[T], now: number) => Letter
): Composer {
  return (shop, data, now) => write(shop, schema.parse(data), now)
}

/**
 * Writes the letter that a queued row asks for, with its link as it works now.
 *
 * @throws NothingToSay when its subject has gone: a used or expired link, an erased account
 */
export function composeLetter(shop: ShopContext, mail: { template: string; data: unknown }, now: number): Letter {
  if (!Object.hasOwn(composers, mail.template)) throw new NothingToSay('there is no such message (any more)')
  return composers[mail.template as MailTemplate](shop, mail.data, now)
}
