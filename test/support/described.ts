import { z } from 'zod'
import { describeApi } from '../../src/api/description/document.ts'
import { findText } from '../../src/shop/settings/known-text.ts'
import { pathPattern } from '../../src/platform/http/client-address.ts'
import { asSchema } from '../../src/api/description/fields.ts'
import type { Schema } from '../../src/api/description/fields.ts'

let known: Schema | undefined

export function apiDocument(): Schema {
  return (known ??= asSchema(
    describeApi({ publicUrl: 'https://shop.test', apiPrefix: '/api/v1', cookieName: 'shopstead_session' })
  ))
}

/** What the API description says of a path. */
function findPath(address: string): unknown {
  const paths = Object.entries(asSchema(apiDocument()['paths']))
  return paths.find(([path]) => pathPattern(path).test(address) && !address.includes('{'))?.[1]
}

const checks = new Map<string, z.ZodType>()

/** How an event differs from the API description; empty if it matches. */
export function undescribedEvent(event: { type: string }): string[] {
  const { post } = asSchema(asSchema(apiDocument()['webhooks'])[event.type])
  const { content } = asSchema(asSchema(post)['requestBody'])
  const check = checks.get(event.type) ?? strictly(asSchema(asSchema(asSchema(content)['application/json'])['schema']))
  checks.set(event.type, check)
  const result = check.safeParse(event)
  return result.success ? [] : [`${event.type} is not as described: ${z.prettifyError(result.error)}`]
}

/**
 * The differences between an answer and the API description: unknown operations, statuses, headers and fields, and missing
 * ones. Empty if the answer matches.
 *
 * @param path below api_root or the proxy, with or without a query
 * @param answer `headers` is undefined for an example, which has none
 */
export function undescribed(
  method: string,
  path: string,
  { status, headers, body }: { status: number; headers?: Headers; body: unknown }
): string[] {
  const address = path.split('?')[0] ?? ''
  const operation = asSchema(asSchema(findPath(address))[(method === 'HEAD' ? 'GET' : method).toLowerCase()])
  // The introduction describes the answer for other paths and methods.
  const isOther = operation['operationId'] === undefined
  if (status === 405 || (isOther && (status === 404 || (status === 400 && refusesHost(body))))) return []
  const response = asSchema(operation['responses'])[String(status)]
  const place = `${method} ${address} ${status}`
  if (response === undefined) return [`${place} is not described: ${JSON.stringify(body)}`]
  const wrong = headers === undefined ? [] : undescribedHeaders(place, asSchema(asSchema(response)['headers']), headers)
  if (method === 'HEAD' || status === 304) return wrong
  const check =
    checks.get(place) ?? strictly(asSchema(asSchema(asSchema(response)['content'])['application/json'])['schema'])
  checks.set(place, check)
  const result = check.safeParse(body)
  return result.success ? wrong : [...wrong, `${place} is not as described: ${z.prettifyError(result.error)}`]
}

/** Refusals that people read. In English they must be among the texts, so that each language has them. */
const refusing = z.object({
  error: z.object({ details: z.object({ fieldErrors: z.record(z.string(), z.array(z.string())) }) })
})
const quoted = z.object({ data: z.object({ problems: z.array(z.object({ message: z.string() })) }) })
/** The refusals of an address are written in their language at once, because they name the fields of the country. */
const ofAddress = /^Please (?:enter|choose) the /

/** The refusals of an English answer that no other language has. */
export function untranslated(place: string, body: unknown): string[] {
  const errors = Object.values(refusing.safeParse(body).data?.error.details.fieldErrors ?? {}).flat()
  const problems = quoted.safeParse(body).data?.data.problems.map(({ message }) => message) ?? []
  const unknown = [...errors, ...problems].filter((text) => findText(text) === undefined && !ofAddress.test(text))
  return unknown.map((text) => `${place} says what no language has: ${text}`)
}

/** Whether an answer refuses the Host header, which comes before the path and the method. */
function refusesHost(body: unknown): boolean {
  return z
    .object({ error: z.object({ details: z.object({ fieldErrors: z.object({ Host: z.array(z.string()) }) }) }) })
    .safeParse(body).success
}

/** The headers that the introduction describes for every answer, those of HTTP itself, and those of a cache in between. */
const common = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'server',
  'strict-transport-security',
  'transfer-encoding',
  'vary',
  'x-cache',
  'x-content-type-options'
])

function undescribedHeaders(place: string, described: Schema, sent: Headers): string[] {
  const names = new Set(Object.keys(described).map((name) => name.toLowerCase()))
  const added = [...new Set(sent.keys())].filter((name) => !names.has(name) && !common.has(name))
  const wrong = Object.entries(described).flatMap(([name, header]) => {
    const { required, schema } = asSchema(header)
    const value = sent.get(name)
    if (value === null) return required === true ? [`${place} lacks the header ${name}`] : []
    const isInteger = /^\d+$/.test(value)
    return asSchema(schema)['type'] === 'integer' && !isInteger ? [`${place} has ${name}: ${value}`] : []
  })
  const isJson = !sent.has('content-type') || sent.get('content-type') === 'application/json; charset=utf-8'
  return [
    ...added.map((name) => `${place} has a header that is not described: ${name}: ${sent.get(name)}`),
    ...wrong,
    ...(isJson ? [] : [`${place} is ${sent.get('content-type')}`])
  ]
}

/** A schema of the document as a check that rejects additional fields. */
function strictly(schema: unknown): z.ZodType {
  const definitions = asSchema(asSchema(apiDocument()['components'])['schemas'])
  const closed = close({ ...asSchema(schema), $defs: definitions })
  return z.fromJSONSchema(closed as Parameters<typeof z.fromJSONSchema>[0])
}

/** The document allows additional fields, because answers may gain some; a test must not. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  // zod would require a full URL where the document allows a path.
  const parts = Object.entries(value).filter(([name, part]) => name !== 'format' || part !== 'uri-reference')
  const entries = parts.map(([name, part]) => [
    name,
    name === '$ref' ? String(part).replace('#/components/schemas/', '#/$defs/') : close(part)
  ])
  const closed = Object.fromEntries(entries) as Record<string, unknown>
  return closed['type'] === 'object' && closed['additionalProperties'] === undefined
    ? { ...closed, additionalProperties: false }
    : closed
}
