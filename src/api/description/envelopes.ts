import { z } from 'zod'
import { describeCode, errors } from '../answers/error-codes.ts'
import type { PublicCode } from '../answers/error-codes.ts'
import { time } from '../../platform/public-fields.ts'
import type { Answer } from '../route.ts'

const correlation = z
  .string()
  .nullable()
  .meta({ description: 'The value of X-Correlation-Id, or a new one.', example: 'page-7f3a' })

const meta = z
  .object({
    correlationId: correlation,
    correlation_id: correlation,
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'Also the value of X-Request-Id.', example: '3e3c2f6e-9c5f-4f0e-9f57-0f8f6b1f2a10' }),
    timestamp: time
  })
  .meta({ id: 'Meta' })

/** The schema of a successful response with its envelope. */
export function successSchema(answer: Answer): z.ZodObject {
  if (answer.meta === null) return z.object({ data: answer.data })
  return z.object({ data: answer.data, meta: metaSchema(answer.meta) })
}

function metaSchema(kind: Exclude<Answer['meta'], null>): z.ZodType {
  if (kind === undefined) return meta
  return kind === 'empty' ? z.object({}) : meta.extend(kind.extend.shape)
}

const byCode = Object.fromEntries(
  Object.entries(errors).map(([code, { details, when }]) => [
    code,
    z
      .object({ code: z.literal(code), message: z.string().meta({ description: 'A text for people.' }), details })
      .meta({ id: code, description: when })
  ])
)

/** The schema of an error response with its envelope and one of these codes. */
export function failureSchema(codes: readonly PublicCode[]): z.ZodObject {
  const some = codes.map((code) => byCode[code]).filter((schema) => schema !== undefined)
  const [first, ...more] = some
  const error = more.length === 0 && first !== undefined ? first : z.union(some)
  return z.object({ error, meta })
}

/** An example of an error response with a code. */
export function failureExample(code: PublicCode): object {
  const { when, example = {} } = describeCode(code)
  return {
    error: { code, message: when, details: example },
    meta: {
      correlationId: 'page-7f3a',
      correlation_id: 'page-7f3a',
      request_id: '3e3c2f6e-9c5f-4f0e-9f57-0f8f6b1f2a10',
      timestamp: '2026-03-14T09:26:53.589Z'
    }
  }
}
