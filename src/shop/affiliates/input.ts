import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { codePoints } from '../../platform/text.ts'

const webAddress = z.string().max(2048).refine(isWebAddress, 'Must be an http or https address.')

/** Body of POST /affiliates/apply; null counts as absent. */
export const applyBody = z.object({
  website: webAddress.nullish(),
  message: z
    .string()
    .meta({ maxLength: 2000 })
    .refine((text) => codePoints(text) <= 2000, 'Must have at most 2000 characters.')
    .nullish(),
  marketingOptIn: z.boolean().nullish().meta({ description: 'The partner opt-in; absent counts as false.' })
})
export type ApplyInput = z.output<typeof applyBody>

/** Body of POST /affiliates/terms. */
export const termsBody = z.object({ version: z.string().min(1).max(100) })

/** Credentials in an address would end up on an operator's screen, control characters in a table or a file. */
function isWebAddress(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/**
 * A rate as an operator types it, in percent with up to two decimals, as hundredths of a percent.
 *
 * @throws AppError VALIDATION_FAILED on `rate`
 */
export function parseRate(percent: string): number {
  const rateBps = /^\d{1,3}(\.\d{1,2})?$/.test(percent) ? Math.round(Number(percent) * 100) : Number.NaN
  if (!(rateBps <= 10_000)) throw validationFailed({ rate: ['Takes a percentage from 0 to 100, such as 12.5.'] })
  return rateBps
}
