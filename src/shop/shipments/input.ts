import { z } from 'zod'
import { codePoints } from '../../platform/text.ts'

const line = (max: number) =>
  z
    .string()
    .trim()
    .refine(
      (text) => codePoints(text) <= max && !/\p{Cc}/u.test(text),
      `Must be one line of at most ${max} characters.`
    )
    .transform((text) => (text === '' ? null : text))
    .nullable()
    .default(null)

/** What an operator says about a shipment. Without `items`, it contains everything that is left. */
export const shipmentInput = z.strictObject({
  carrier: line(50),
  tracking: line(100),
  url: z
    .url({ protocol: /^https?$/, error: 'Must be an http or https address.' })
    .max(2048)
    .nullable()
    .default(null),
  items: z
    .array(z.strictObject({ line: z.int().positive(), quantity: z.int().positive() }))
    .min(1)
    .nullable()
    .default(null)
})

export type ShipmentInput = z.output<typeof shipmentInput>
