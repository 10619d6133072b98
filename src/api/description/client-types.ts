import { errors } from '../answers/error-codes.ts'
import type { ApiDocument } from './api-document.ts'
import { asSchema, textOf } from './fields.ts'
import type { Schema } from './fields.ts'

/** Whether a type is of something that the client sends, or that it receives. */
type Direction = 'sent' | 'received'

const heading = `// Written by "npm run client:generate" from the API description. Git ignores it.

/** The request and response of each operation, by method and path. */`

/** The TypeScript source of the client's types, generated from the API description. */
export function clientTypes(document: ApiDocument): string {
  const components = asSchema(document.components?.schemas)
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(asSchema(item)).map(([method, is]) => operationType(`${method.toUpperCase()} ${path}`, asSchema(is)))
  )
  const named = Object.entries(components).filter(([name]) => !(name in errors) && name !== 'CorrelationId')
  const details = Object.keys(errors)
    .filter((code) => code in components)
    .map((code) => `  ${code}: ${typeOf(asSchema(asSchema(components[code])['properties'])['details'])}`)
  return [
    `${heading}\nexport type Operations = {\n${operations.join('\n')}\n}`,
    `/** The details of each error code. */\nexport type ErrorDetails = {\n${details.join('\n')}\n}`,
    `/** The data of each event that the shop sends to webhooks. */\nexport type WebhookData = {\n${webhookTypes(document).join('\n')}\n}`,
    ...named.map(([name, schema]) => `${docOf(schema)}export type ${name} = ${typeOf(schema)}`)
  ]
    .join('\n\n')
    .concat('\n')
}

function webhookTypes(document: ApiDocument): string[] {
  return Object.entries(document.webhooks ?? {}).map(([type, item]) => {
    const operation = asSchema(asSchema(item)['post'])
    const { properties } = asSchema(mediaOf(operation['requestBody'])['schema'])
    return `${comment(textOf(operation, 'summary'))}  '${type}': ${typeOf(asSchema(properties)['data'])}`
  })
}

function operationType(name: string, operation: Schema): string {
  const success = Object.entries(asSchema(operation['responses'])).find(([status]) => status.startsWith('2'))
  const envelope = mediaOf(success?.[1])['schema']
  const body = mediaOf(operation['requestBody'])['schema']
  return [
    `${comment(textOf(operation, 'summary'))}  ${keyOf(name, operation['parameters'])}: {`,
    `    query: ${queryType(operation['parameters'])}`,
    `    body: ${body === undefined ? 'undefined' : typeOf(body, 'sent')}`,
    `    answer: ${typeOf(envelope)}`,
    '  }'
  ].join('\n')
}

/** A path with parameters becomes a template literal type, so that the compiler checks the values in a path. */
function keyOf(name: string, parameters: unknown): string {
  if (!name.includes('{')) return `'${name}'`
  const inPath = (Array.isArray(parameters) ? parameters : []).map(asSchema).filter(({ in: place }) => place === 'path')
  const filled = inPath.reduce(
    (text: string, { name: parameter, schema }) => text.replace(`{${String(parameter)}}`, `\${${typeOf(schema)}}`),
    name
  )
  return `[operation: \`${filled}\`]`
}

function queryType(parameters: unknown): string {
  const query = (Array.isArray(parameters) ? parameters : []).map(asSchema).filter(({ in: place }) => place === 'query')
  if (query.length === 0) return 'undefined'
  const fields = query.map((parameter) => {
    const { name, schema, required } = parameter
    const type = typeOf(schema, 'sent')
    const field = required === true ? `${String(name)}: ${type}` : `${String(name)}?: ${type} | undefined`
    return `${docOf(parameter) || docOf(schema)}${field}`
  })
  return `{\n${fields.join('\n')}\n}`
}

function mediaOf(carrier: unknown): Schema {
  return asSchema(asSchema(asSchema(carrier)['content'])['application/json'])
}

function typeOf(schema: unknown, direction: Direction = 'received'): string {
  const known = asSchema(schema)
  if (typeof known['$ref'] === 'string') return known['$ref'].slice(known['$ref'].lastIndexOf('/') + 1)
  // A form sends the state of its checkbox, and the service refuses the wrong one.
  if (typeof known['const'] === 'boolean' && direction === 'sent') return 'boolean'
  if ('const' in known) return literal(known['const'])
  if (Array.isArray(known['enum'])) return known['enum'].map(literal).join(' | ')
  const variants = [known['anyOf'], known['oneOf']].find((candidate) => Array.isArray(candidate))
  if (Array.isArray(variants)) return union(variants.map((variant) => typeOf(variant, direction)))
  const types = Array.isArray(known['type']) ? known['type'] : [known['type']]
  return union(types.map((type) => plainType(type, known, direction)))
}

function union(types: readonly string[]): string {
  const all = new Set(types)
  // `string` includes every literal text.
  return [...all].filter((type) => !all.has('string') || !type.startsWith("'")).join(' | ')
}

function plainType(type: unknown, known: Schema, direction: Direction): string {
  if (type === 'integer') return 'number'
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type
  if (type === 'array') return listOf(typeOf(known['items'], direction))
  return type === 'object' ? objectType(known, direction) : 'unknown'
}

function objectType(known: Schema, direction: Direction): string {
  const required = new Set(Array.isArray(known['required']) ? known['required'] : [])
  const fields = Object.entries(asSchema(known['properties'])).map(
    ([name, part]) => `${docOf(part)}${name}${required.has(name) ? '' : '?'}: ${typeOf(part, direction)}`
  )
  if (fields.length > 0) return `{\n${fields.join('\n')}\n}`
  const values = known['additionalProperties']
  return typeof values === 'object' ? `{ [name: string]: ${typeOf(values, direction)} }` : '{ [name: string]: never }'
}

/** The description of a schema or parameter as a comment on the lines before it. */
function docOf(described: unknown): string {
  return comment(textOf(described, 'description'))
}

function comment(text: string): string {
  return text === '' ? '' : `/** ${text.replaceAll(/\s+/g, ' ')} */\n`
}

function listOf(type: string): string {
  return type.includes('|') ? `(${type})[]` : `${type}[]`
}

/** A literal in the formatter's style. */
function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
