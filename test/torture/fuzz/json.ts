import type { Random } from '../random.ts'
import { numbers, oddText } from './odd.ts'

/** JSON as it is written: a name may come twice, and a number may be one that JavaScript cannot hold. */
export type Json = null | boolean | string | Json[] | Written | Fields

/** Stands in the text as it is. */
export class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export class Fields {
  readonly pairs: [name: string, value: Json][]
  constructor(pairs: [name: string, value: Json][]) {
    this.pairs = pairs
  }
}

export function toJson(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (value instanceof Written || value instanceof Fields) return value
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'object') return new Fields(Object.entries(value).map(([name, part]) => [name, toJson(part)]))
  return new Written(JSON.stringify(value) ?? 'null')
}

/** What was multiplied again and again may come to more than any memory holds: nobody takes as much as this either. */
const mostWritten = 3_000_000

/** As text, broken off where it becomes larger than any body that is taken. */
export function writeJson(json: Json): string {
  const pieces: string[] = []
  let left = mostWritten
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
    if (part instanceof Written) write(part.text)
    else if (Array.isArray(part)) writeAll('[', part, writePart, ']')
    else if (part instanceof Fields) writeAll('{', part.pairs, writePair, '}')
    else write(JSON.stringify(part))
  }
  const writePair = ([name, value]: [string, Json]): void => {
    write(`${JSON.stringify(name)}:`)
    writePart(value)
  }
  writePart(json)
  return pieces.join('')
}

/** A place in a value, with what can be done there. */
type Place = { value: Json; put(value: Json): void; remove?(): void; double?(): void }

/** The value with one thing wrong with it; the value itself is changed. */
export function spoilJson(root: Json, random: Random): Json {
  let whole = root
  const places: Place[] = [{ value: root, put: (value) => void (whole = value) }]
  for (const place of placesIn(root)) {
    if (places.push(place) > mostPlaces) break
  }
  // Mostly a field: what is wrong at the root hides everything below it.
  const place = random.oneIn(12) ? places[0] : random.pick(places)
  if (place !== undefined) spoil(place, random)
  return whole
}

/** One that was multiplied before has more places than matter. */
const mostPlaces = 2_000

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
  if (!(json instanceof Fields)) return
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

function spoil(place: Place, random: Random): void {
  const { value } = place
  switch (random.between(1, 9)) {
    case 1:
      return place.remove?.()
    case 2:
      return place.double?.()
    case 3:
      return place.put(otherType(random))
    case 4:
      return place.put(new Written(random.pick(numbers)))
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
  return random.pick<Json>([null, true, false, '', [], new Fields([]), new Written('7'), [[]], ['x'], 'text'])
}

function nested(random: Random): Json {
  const depth = random.pick([5, 11, 12, 13, 100, 3_000, 20_000])
  const [open, shut] = random.pick([
    ['[', ']'],
    ['{"a":', '}']
  ])
  return new Written(`${open.repeat(depth)}1${shut.repeat(depth)}`)
}

function addField(value: Json, random: Random): void {
  if (!(value instanceof Fields)) return
  const name = random.pick(['__proto__', 'constructor', 'prototype', 'role', 'isAdmin', 'id', '', oddText(random)])
  value.pairs.push([name, random.pick<Json>([new Fields([['isAdmin', true]]), true, 'x', new Written('1')])])
}

/** What a schema of the API description takes, roughly: enough to get past its types. */
export function jsonFor(schema: Readonly<Record<string, unknown>>, random: Random): Json {
  const options = [schema['anyOf'], schema['oneOf'], schema['allOf']].find(Array.isArray) as object[] | undefined
  if (options !== undefined) return jsonFor(random.pick(options) as Record<string, unknown>, random)
  if (Array.isArray(schema['enum'])) return toJson(random.pick(schema['enum']))
  if ('const' in schema) return toJson(schema['const'])
  const type = new Set([schema['type']].flat())
  if (type.has('boolean')) return random.oneIn(2)
  if (type.has('integer') || type.has('number')) return new Written(random.oneIn(3) ? random.pick(numbers) : '3')
  if (type.has('array')) return [jsonFor((schema['items'] ?? {}) as Record<string, unknown>, random)]
  if (type.has('object')) {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, unknown>>)
    return new Fields(
      properties.filter(() => random.oneIn(2)).map(([name, part]): [string, Json] => [name, jsonFor(part, random)])
    )
  }
  return random.oneIn(3) ? oddText(random) : 'Some text'
}
