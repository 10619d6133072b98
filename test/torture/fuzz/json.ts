import type { Random } from '../random.ts'
import { numbers, oddText } from './odd-values.ts'

/** A JSON document that may contain duplicate names and numbers that JavaScript cannot represent. */
export type Json = null | boolean | string | Json[] | RawJson | JsonObject

/** A value that is written unchanged. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object as a list of pairs, so that names can repeat. */
export class JsonObject {
  readonly pairs: [name: string, value: Json][]
  constructor(pairs: [name: string, value: Json][]) {
    this.pairs = pairs
  }
}

/** Converts a JavaScript value. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (value instanceof RawJson || value instanceof JsonObject) return value
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'object')
    return new JsonObject(Object.entries(value).map(([name, part]) => [name, toJson(part)]))
  return new RawJson(JSON.stringify(value) ?? 'null')
}

/** The maximum length of a document, above every body limit. Repeated duplication would otherwise exhaust the memory. */
const maxLength = 3_000_000

/** The document as text, cut off at the maximum length. */
export function writeJson(json: Json): string {
  const pieces: string[] = []
  let left = maxLength
  const write = (piece: string): void => {
    pieces.push(piece)
    left -= piece.length
  }
  const writeAll = <T>(open: string, parts: readonly T[], writePart: (part: T) => void, shut: string): void => {
    write(open)
    for (const [index, part] of parts.entries()) {
      if (left <= 0) return
      if (index > 0) write(',')
      writePart(part)
    }
    write(shut)
  }
  const writePart = (part: Json): void => {
    if (part instanceof RawJson) write(part.text)
    else if (Array.isArray(part)) writeAll('[', part, writePart, ']')
    else if (part instanceof JsonObject) writeAll('{', part.pairs, writePair, '}')
    else write(JSON.stringify(part))
  }
  const writePair = ([name, value]: [string, Json]): void => {
    write(`${JSON.stringify(name)}:`)
    writePart(value)
  }
  writePart(json)
  return pieces.join('')
}

/** A position in a document, and the changes that are possible there. */
type Place = { value: Json; put(value: Json): void; remove?(): void; double?(): void }

/** Adds one fault to a document, which is changed in place. Returns the new root. */
export function corruptJson(root: Json, random: Random): Json {
  let whole = root
  const places: Place[] = [{ value: root, put: (value) => void (whole = value) }]
  for (const place of placesIn(root)) {
    if (places.push(place) > maxPlaces) break
  }
  // Rarely the root, because a fault there hides all others.
  const place = random.oneIn(12) ? places[0] : random.pick(places)
  if (place !== undefined) corrupt(place, random)
  return whole
}

/** The maximum number of positions to choose from; duplication can create many. */
const maxPlaces = 2_000

function* placesIn(json: Json): Generator<Place> {
  if (Array.isArray(json)) {
    for (const [index, value] of json.entries()) {
      yield {
        value,
        put: (other) => void (json[index] = other),
        remove: () => void json.splice(index, 1),
        double: () => void json.push(value)
      }
      yield* placesIn(value)
    }
  }
  if (!(json instanceof JsonObject)) return
  for (const pair of json.pairs) {
    yield {
      value: pair[1],
      put: (other) => void (pair[1] = other),
      remove: () => void json.pairs.splice(json.pairs.indexOf(pair), 1),
      double: () => void json.pairs.push([pair[0], pair[1]])
    }
    yield* placesIn(pair[1])
  }
}

function corrupt(place: Place, random: Random): void {
  const { value } = place
  switch (random.between(1, 9)) {
    case 1:
      return place.remove?.()
    case 2:
      return place.double?.()
    case 3:
      return place.put(otherType(random))
    case 4:
      return place.put(new RawJson(random.pick(numbers)))
    case 5:
      return place.put(nested(random))
    case 6: {
      const isLarge = typeof value === 'object' && value !== null
      return place.put(
        Array.from({ length: isLarge ? random.pick([2, 31]) : random.pick([2, 11, 1_000]) }, () => value)
      )
    }
    case 7:
      return addField(value, random)
    default:
      return place.put(oddText(random))
  }
}

function otherType(random: Random): Json {
  return random.pick<Json>([null, true, false, '', [], new JsonObject([]), new RawJson('7'), [[]], ['x'], 'text'])
}

function nested(random: Random): Json {
  const depth = random.pick([5, 11, 12, 13, 100, 3_000, 20_000])
  const [open, shut] = random.pick([
    ['[', ']'],
    ['{"a":', '}']
  ])
  return new RawJson(`${open.repeat(depth)}1${shut.repeat(depth)}`)
}

function addField(value: Json, random: Random): void {
  if (!(value instanceof JsonObject)) return
  const name = random.pick(['__proto__', 'constructor', 'prototype', 'role', 'isAdmin', 'id', '', oddText(random)])
  value.pairs.push([name, random.pick<Json>([new JsonObject([['isAdmin', true]]), true, 'x', new RawJson('1')])])
}

/** A value of roughly the types that a schema of the API description requires. */
export function jsonFor(schema: Readonly<Record<string, unknown>>, random: Random): Json {
  const options = [schema['anyOf'], schema['oneOf'], schema['allOf']].find(Array.isArray) as object[] | undefined
  if (options !== undefined) return jsonFor(random.pick(options) as Record<string, unknown>, random)
  if (Array.isArray(schema['enum'])) return toJson(random.pick(schema['enum']))
  if ('const' in schema) return toJson(schema['const'])
  const type = new Set([schema['type']].flat())
  if (type.has('boolean')) return random.oneIn(2)
  if (type.has('integer') || type.has('number')) return new RawJson(random.oneIn(3) ? random.pick(numbers) : '3')
  if (type.has('array')) return [jsonFor((schema['items'] ?? {}) as Record<string, unknown>, random)]
  if (type.has('object')) {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, unknown>>)
    return new JsonObject(
      properties.filter(() => random.oneIn(2)).map(([name, part]): [string, Json] => [name, jsonFor(part, random)])
    )
  }
  return random.oneIn(3) ? oddText(random) : 'Some text'
}
