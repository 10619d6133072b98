import type { ApiDocument } from './api-document.ts'
import { fieldTexts } from './field-texts.ts'
import { asSchema } from './fields.ts'
import { storeFieldTexts } from './store-field-texts.ts'

const texts: Readonly<Record<string, string>> = { ...fieldTexts, ...storeFieldTexts }

/** Adds the description of each field and parameter whose schema has none. */
export function describeFields(document: ApiDocument): void {
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) describeIn(schema, name)
  for (const item of Object.values({ ...document.paths, ...document.webhooks })) {
    for (const operation of Object.values(asSchema(item)).map(asSchema)) {
      describeIn(jsonOf(operation['requestBody']), '')
      for (const response of Object.values(asSchema(operation['responses']))) describeIn(jsonOf(response), '')
      for (const parameter of listOf(operation['parameters'])) describe(asSchema(parameter), '')
    }
  }
}

/** Describes the properties of a schema and of everything in it. `owner` is the name of the component around it. */
function describeIn(schema: unknown, owner: string): void {
  const { properties, items, anyOf, oneOf, allOf } = asSchema(schema)
  for (const [name, part] of Object.entries(asSchema(properties))) {
    // Fields with the same schema share one object, which must not get the text of one of them.
    const own = { ...asSchema(part) }
    Object.assign(asSchema(properties), { [name]: own })
    describe(own, owner, name)
    describeIn(own, owner)
  }
  if (items !== undefined) describeIn(items, owner)
  for (const variant of [anyOf, oneOf, allOf].flatMap(listOf)) describeIn(variant, owner)
}

function describe(target: object, owner: string, name = textOf(asSchema(target)['name'])): void {
  const { description, schema } = asSchema(target)
  const text = texts[`${owner}.${name}`] ?? texts[name]
  if (text === undefined || description !== undefined || asSchema(schema)['description'] !== undefined) return
  Object.assign(target, { description: text })
}

function jsonOf(carrier: unknown): unknown {
  return asSchema(asSchema(asSchema(carrier)['content'])['application/json'])['schema']
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
