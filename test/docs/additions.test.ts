import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { asSchema } from '../../src/api/description/fields.ts'
import type { Schema } from '../../src/api/description/fields.ts'
import { apiDocument } from '../support/described.ts'
import { column, readSections, rowsOf } from '../support/markdown.ts'

const interfacePage = 'docs/interface.md'
const named = new Set(readFileSync(interfacePage, 'utf8').match(/\w+/g))
// interface.md mentions these additions of ours, or has the word in its text.
const mentioned = ['subscribeAgain', 'orderToken', 'statusUrl', 'redirectUrl', 'totals', 'image', 'variationCount']
for (const name of [...mentioned, 'variations', 'state', 'available']) named.delete(name)
const endpoints = [
  'GET /nonce',
  'POST /auth/register',
  'POST /auth/login',
  'GET /me',
  'GET /orders',
  'GET /store/offers',
  'POST /store/checkout-session',
  'GET /affiliates/referrals',
  'GET /health'
]

/** The names of all fields of a schema, at every level; a reference is followed once. */
function fieldsOf(schema: unknown, seen = new Set<string>()): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((part) => fieldsOf(part, seen))
  const { $ref, properties, example: _example, ...rest } = asSchema(schema)
  if (typeof $ref === 'string') {
    if (seen.has($ref)) return []
    seen.add($ref)
    return fieldsOf(resolve($ref), seen)
  }
  const own = Object.entries(asSchema(properties)).flatMap(([name, part]) => [name, ...fieldsOf(part, seen)])
  return [...own, ...fieldsOf(Object.values(rest), seen)]
}

function resolve(reference: string): Schema {
  return reference
    .split('/')
    .slice(1)
    .reduce((part, name) => asSchema(part[name]), apiDocument())
}

const unnamed = (where: string, names: readonly string[]): string[] =>
  names.filter((name) => !named.has(name)).map((name) => `${where}: ${name}`)

/** The statuses of an order, and the codes of the errors of the nine endpoints, that the interface does not name. */
function otherWords(): string[] {
  const { Order } = asSchema(asSchema(apiDocument()['components'])['schemas'])
  const { status } = asSchema(asSchema(Order)['properties'])
  const statuses = z.array(z.string()).parse(asSchema(status)['enum'])
  const codes = endpoints.flatMap((endpoint) =>
    Object.values(asSchema(operationOf(endpoint)['responses'])).flatMap((response) => namesOf(response, 'examples'))
  )
  // 7.5 repeats what is listed here for the endpoints that name it themselves.
  const sections = readSections(interfacePage).filter(({ number }) => /^7\.[1-4]$/.test(number))
  const namedCodes = new Set(sections.flatMap(({ rows }) => column(rows, 'Code').flatMap((cell) => cell.split(', '))))
  return [
    ...unnamed('status of an order', statuses),
    ...codes.filter((code) => !namedCodes.has(code)).map((code) => `codes: ${code}`)
  ]
}

/** The names of all entries of an object of this name, at every level. */
function namesOf(schema: unknown, name: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, part]) =>
    key === name ? Object.keys(asSchema(part)) : namesOf(part, name)
  )
}

function operationOf(endpoint: string): Schema {
  const [method = '', path = ''] = endpoint.split(' ')
  return asSchema(asSchema(asSchema(apiDocument()['paths'])[path])[method.toLowerCase()])
}

it('docs/contract.md A11 lists every field, status and code of the nine endpoints that the interface does not name, and no other', () => {
  const found = endpoints.flatMap((endpoint) => {
    const { requestBody, parameters, responses } = operationOf(endpoint)
    const query = Array.isArray(parameters) ? parameters.map(asSchema).filter((each) => each['in'] === 'query') : []
    const isSuccess = ([status]: [string, unknown]): boolean => status.startsWith('2')
    const [good, bad] = [true, false].map((wanted) =>
      fieldsOf(
        Object.entries(asSchema(responses))
          .filter((entry) => isSuccess(entry) === wanted)
          .map(([, response]) => response)
      )
    )
    const sent = [...query.map((each) => String(each['name'])), ...fieldsOf(requestBody)]
    return [...unnamed(`${endpoint}, request`, sent), ...unnamed(endpoint, good ?? []), ...unnamed('errors', bad ?? [])]
  })
  const listed = rowsOf(readSections('docs/contract.md'), 'A11').flatMap(({ Where = '', Fields = '' }) =>
    [...Fields.matchAll(/[\w-]+/g)].map(([name]) => `${Where.replaceAll('`', '')}: ${name}`)
  )
  expect(listed.toSorted()).toEqual([...new Set([...found, ...otherWords()])].toSorted())
})
