import { isObject } from '../../platform/typed.ts'
/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** One field of a request or response, with its path as name (`items[].quantity`). */
export type Field = { name: string; type: string; required: boolean; about: string }

type Components = Readonly<Record<string, unknown>>

/**
 * The fields of a schema. Nested fields follow their parent, with names such as `items[].quantity`.
 *
 * @param components the schemas that `$ref` names
 */
export function fieldsOf(schema: unknown, components: Components, below = ''): Field[] {
  const known = resolve(schema, components)
  const variants = variantsOf(known).map((variant) => resolve(variant, components))
  if (variants.length > 0) return uniqueBy(variants.flatMap((variant) => fieldsOf(variant, components, below)))
  if (typeOf(known).includes('array')) return fieldsOf(known['items'], components, `${below}[]`)
  const required = new Set(Array.isArray(known['required']) ? known['required'] : [])
  return Object.entries(asSchema(known['properties'])).flatMap(([name, part]) => {
    const path = below === '' ? name : `${below}.${name}`
    const field = {
      name: path,
      type: typeName(part, components),
      required: required.has(name),
      about: textOf(part, 'description')
    }
    return [field, ...fieldsOf(part, components, path)]
  })
}

/** The type of a schema in a few words: `string`, `integer or null`, `list of Order`. */
export function typeName(schema: unknown, components: Components): string {
  const named = nameOf(schema)
  if (named !== undefined) return named
  const known = asSchema(schema)
  if ('const' in known) return JSON.stringify(known['const'])
  if (Array.isArray(known['enum'])) return known['enum'].map((word) => JSON.stringify(word)).join(' or ')
  const variants = variantsOf(known)
  if (variants.length > 0) return [...new Set(variants.map((variant) => typeName(variant, components)))].join(' or ')
  return typeOf(known)
    .map((type) => (type === 'array' ? `list of ${typeName(known['items'], components)}` : detailed(type, known)))
    .join(' or ')
}

/** The OpenAPI schema of a zod schema. */
export function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {}
}

/** A text property; empty if it is missing. */
export function textOf(schema: unknown, name: string): string {
  const value = asSchema(schema)[name]
  return typeof value === 'string' ? value : ''
}

function detailed(type: string, { format, minimum, maximum, maxLength }: Schema): string {
  if (type === 'string' && typeof format === 'string') return format
  if (type === 'string' && typeof maxLength === 'number') return `string, at most ${maxLength} characters`
  if (type === 'integer' && typeof minimum === 'number' && typeof maximum === 'number')
    return `integer, ${minimum} to ${maximum}`
  return type
}

function resolve(schema: unknown, components: Components): Schema {
  const name = nameOf(schema)
  return asSchema(name === undefined ? schema : components[name])
}

function nameOf(schema: unknown): string | undefined {
  const { $ref } = asSchema(schema)
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

function variantsOf({ anyOf, oneOf, allOf }: Schema): unknown[] {
  const found = [anyOf, oneOf, allOf].find((candidate) => Array.isArray(candidate))
  return Array.isArray(found) ? found : []
}

function typeOf({ type }: Schema): string[] {
  if (Array.isArray(type)) return type.map(String)
  return typeof type === 'string' ? [type] : []
}

function uniqueBy(fields: readonly Field[]): Field[] {
  return [...new Map(fields.map((field) => [field.name, field])).values()]
}
