import { z } from 'zod'
import { validationFailed } from '../../errors.ts'
import { textField } from '../accounts/fields.ts'

const webUrl = z.string().max(2048).refine(isWebUrl, 'Must be an http or https URL without credentials.')

/** Body of POST /affiliates/apply; null counts as absent. */
export const applyBody = z.strictObject({
  website: webUrl.nullish(),
  message: textField(2000).nullish(),
  marketingOptIn: z.boolean().nullish().meta({ description: 'The partner opt-in; absent counts as false.' })
})
export type ApplyInput = z.output<typeof applyBody>

/** Body of POST /affiliates/terms. */
export const termsBody = z.strictObject({ version: z.string().min(1).max(100) })

/** Body of POST /affiliates/clicks. `ref` is a code or an id; another one does not count. */
export const clickBody = z.strictObject({
  ref: z.string().min(1).meta({ maxLength: 100 }),
  campaign: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "The campaign of the affiliate's link.", example: 'spring' }),
  current: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'The ref of an earlier click that the browser still has, if its days are not over.' })
})

/** Refuses credentials, which operators would see, and control characters, which would break tables and files. */
function isWebUrl(text: string): boolean {
  if (/[\p{Cc} ]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/**
 * Parses a commission rate in percent with at most two decimals to basis points.
 *
 * @throws AppError VALIDATION_FAILED on `rate`
 */
export function parseRate(percent: string): number {
  const rateBps = /^\d{1,3}(\.\d{1,2})?$/.test(percent) ? Math.round(Number(percent) * 100) : Number.NaN
  if (!(rateBps <= 10_000))
    throw validationFailed({ rate: ['Must be a percentage from 0 to 100 with at most two decimals, such as 12.5.'] })
  return rateBps
}
