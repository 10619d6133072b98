import { z } from 'zod'
import { describeApi } from '../../src/api/description/document.ts'
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
 * The differences between an answer and the API description: unknown operations, statuses and fields, and missing fields.
 * Empty if the answer matches.
 *
 * @param path below api_root, with or without a query
 */
export function undescribed(method: string, path: string, status: number, body: unknown): string[] {
  const address = path.split('?')[0] ?? ''
  const item = asSchema(findPath(address))
  const operation = asSchema(item[(method === 'HEAD' ? 'GET' : method).toLowerCase()])
  // The introduction describes the answer for other paths and methods.
  if (status === 405 || (status === 404 && operation['operationId'] === undefined)) return []
  if (status === 400 && refusesHost(body)) return []
  const response = asSchema(operation['responses'])[String(status)]
  const place = `${method} ${address} ${status}`
  if (response === undefined) return [`${place} is not described: ${JSON.stringify(body)}`]
  if (method === 'HEAD' || status === 304) return []
  const check =
    checks.get(place) ?? strictly(asSchema(asSchema(asSchema(response)['content'])['application/json'])['schema'])
  checks.set(place, check)
  const result = check.safeParse(body)
  return result.success ? [] : [`${place} is not as described: ${z.prettifyError(result.error)}`]
}

/** The introduction also describes the answer for an invalid Host header. */
function refusesHost(body: unknown): boolean {
  const { fieldErrors } = asSchema(asSchema(asSchema(body)['error'])['details'])
  return Object.keys(asSchema(fieldErrors)).join() === 'Host'
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
