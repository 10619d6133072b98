import { errors } from '../answers/error-codes.ts'
import type { ApiDocument } from './api-document.ts'
import { asSchema } from './fields.ts'
import type { Schema } from './fields.ts'

const heading = `// Written by "npm run client:generate" from the API description; a test fails when it is outdated.

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
    ...named.map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  ]
    .join('\n\n')
    .concat('\n')
}

function webhookTypes(document: ApiDocument): string[] {
  return Object.entries(document.webhooks ?? {}).map(([type, item]) => {
    const { properties } = asSchema(mediaOf(asSchema(asSchema(asSchema(item)['post'])['requestBody']))['schema'])
    return `  '${type}': ${typeOf(asSchema(properties)['data'])}`
  })
}

function operationType(name: string, operation: Schema): string {
  const success = Object.entries(asSchema(operation['responses'])).find(([status]) => status.startsWith('2'))
  const envelope = mediaOf(success?.[1])['schema']
  const body = mediaOf(operation['requestBody'])['schema']
  return [
    `  ${keyOf(name, operation['parameters'])}: {`,
    `    query: ${queryType(operation['parameters'])}`,
    `    body: ${body === undefined ? 'undefined' : typeOf(body)}`,
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
  const fields = query.map(({ name, schema, required }) => {
    const type = typeOf(schema)
    return required === true ? `${String(name)}: ${type}` : `${String(name)}?: ${type} | undefined`
  })
  return `{ ${fields.join('; ')} }`
}

function mediaOf(carrier: unknown): Schema {
  return asSchema(asSchema(asSchema(carrier)['content'])['application/json'])
}

function typeOf(schema: unknown): string {
  const known = asSchema(schema)
  if (typeof known['$ref'] === 'string') return known['$ref'].slice(known['$ref'].lastIndexOf('/') + 1)
  if ('const' in known) return literal(known['const'])
  if (Array.isArray(known['enum'])) return known['enum'].map(literal).join(' | ')
  const variants = [known['anyOf'], known['oneOf']].find((candidate) => Array.isArray(candidate))
  if (Array.isArray(variants)) return union(variants.map(typeOf))
  const types = Array.isArray(known['type']) ? known['type'] : [known['type']]
  return union(types.map((type) => plainType(type, known)))
}

function union(types: readonly string[]): string {
  const all = new Set(types)
  // `string` includes every literal text.
  return [...all].filter((type) => !all.has('string') || !type.startsWith("'")).join(' | ')
}

function plainType(type: unknown, known: Schema): string {
  if (type === 'integer') return 'number'
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type
  if (type === 'array') return listOf(typeOf(known['items']))
  return type === 'object' ? objectType(known) : 'unknown'
}

function objectType(known: Schema): string {
  const required = new Set(Array.isArray(known['required']) ? known['required'] : [])
  const fields = Object.entries(asSchema(known['properties'])).map(
    ([name, part]) => `${name}${required.has(name) ? '' : '?'}: ${typeOf(part)}`
  )
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  const values = known['additionalProperties']
  return typeof values === 'object' ? `{ [name: string]: ${typeOf(values)} }` : '{ [name: string]: never }'
}

function listOf(type: string): string {
  return type.includes('|') ? `(${type})[]` : `${type}[]`
}

/** A literal in the formatter's style. */
function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
