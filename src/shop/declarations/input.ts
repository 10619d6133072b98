import { z } from 'zod'
import { isDay } from '../../platform/days.ts'
import { codePoints } from '../../platform/text.ts'
import type { Translate } from '../../platform/texts/languages.ts'
import { isEmail, lineField } from '../accounts/fields.ts'

/** An email shows this text to its recipient, so it must not advertise a page. */
const advertises = (text: string): boolean => /:\/\/|www\.|https?:/i.test(text)

/** The rules of a declaration, with messages in the words of a language. */
function commonFields(t: Translate) {
  const line = (max: number, missing: string) =>
    lineField(max)
      .refine((text) => text !== '', missing)
      .refine((text) => !advertises(text), t('declare.noLinks'))
  return {
    name: line(100, t('declare.noName')),
    email: z
      .string()
      .transform((text) => text.normalize('NFC').trim())
      .refine((text) => text !== '', { error: t('invalid.noEmail'), abort: true })
      .refine((text) => codePoints(text) <= 254 && isEmail(text), t('invalid.email')),
    contract: line(100, t('declare.noContract')),
    message: z
      .string()
      .transform((text) => text.replaceAll('\r\n', '\n').trim())
      .refine((text) => codePoints(text) <= 1000, t('declare.tooLong', { count: 1000 }))
      .transform((text) => (text === '' ? null : text))
  }
}

/** A withdrawal from a contract. `itemIds` are the line items of an order that the buyer's link names; null for all. */
export function withdrawalInput(t: Translate) {
  return z.object({ ...commonFields(t), itemIds: z.array(z.int()).min(1, t('withdraw.noLines')).nullable() })
}
export type WithdrawalInput = z.output<ReturnType<typeof withdrawalInput>>

/** The cancellation of a subscription. For cause, it says which. */
export function cancellationInput(t: Translate) {
  return z
    .object({
      ...commonFields(t),
      isForCause: z.boolean(),
      wantedEnd: z
        .string()
        .transform((text) => text.trim())
        .refine((text) => text === '' || isDay(text), t('cancel.noDay'))
        .transform((text) => (text === '' ? null : text))
    })
    .refine(({ isForCause, message }) => !isForCause || message !== null, {
      path: ['message'],
      error: t('cancel.noCause')
    })
}
export type CancellationInput = z.output<ReturnType<typeof cancellationInput>>
