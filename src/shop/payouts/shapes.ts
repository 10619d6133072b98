import { z } from 'zod'
import { currency, id, time } from '../../platform/public-fields.ts'

export const payoutStates = ['paid', 'failed'] as const
export type PayoutState = (typeof payoutStates)[number]

const minor = z.int().meta({ description: 'Minor units of the currency.', example: 1250 })

const payoutView = z.object({
  id,
  amountMinor: minor,
  currency,
  state: z.enum(payoutStates).meta({ description: 'failed: the money came back, and is due again.', example: 'paid' }),
  reference: z.string().nullable().meta({ description: "The shop's reference of the transfer.", example: 'run 7' }),
  createdAtUtc: time,
  failedAtUtc: time.nullable().meta({ description: 'Null for a payout that did not fail.', example: null })
})
export type PayoutView = z.infer<typeof payoutView>

const line = z.object({
  referralId: id.nullable().meta({ description: 'Null for what is not paid for an order, such as a bonus.' }),
  orderId: id.nullable(),
  amountMinor: minor.meta({ description: 'Negative for a debt that the payout set off.' })
})
export type PayoutLineView = z.infer<typeof line>

const statement = z
  .object({
    pdfUrl: z.string().meta({ description: 'As a PDF.' }),
    csvUrl: z.string().meta({ description: 'Its lines as CSV.' })
  })
  .meta({ description: 'The addresses of the statement, which need no session.' })

/** A payout as its affiliate sees it: what it paid for each referral, and its statement. */
export const ownPayout = z.object({ ...payoutView.shape, lines: z.array(line), statement }).meta({ id: 'Payout' })
export type OwnPayout = z.infer<typeof ownPayout>
