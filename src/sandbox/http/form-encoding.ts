import { badParameter } from './errors.ts'

/** A decoded form: a string, or a map from names or list indexes to values. A Map, so that `__proto__` is a plain name. */
export type Raw = string | RawMap
export type RawMap = Map<string, Raw>

const maxPairs = 2_000
const maxDepth = 8

/**
 * Decodes Stripe's form encoding: `a[b][0][c]=1` nests, `a[]=1` appends to a list. Accepts up to 2000 parameters and 8
 * levels.
 *
 * @throws StripeRefusal for a form that cannot be decoded
 */
export function decodeForm(text: string): RawMap {
  const root: RawMap = new Map()
  if (text === '') return root
  const pairs = text.split('&')
  if (pairs.length > maxPairs) throw badParameter('Too many parameters were sent.', {})
  for (const pair of pairs) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = decodePart(at < 0 ? pair : pair.slice(0, at))
    place(root, pathOf(name), at < 0 ? '' : decodePart(pair.slice(at + 1)))
  }
  return root
}

/** Whether two encoded forms hold the same parameters, in any order. */
export function isSameForm(one: string, other: string): boolean {
  return one === other || canonical(decodeForm(one)) === canonical(decodeForm(other))
}

function canonical(raw: Raw): string {
  if (typeof raw === 'string') return JSON.stringify(raw)
  const entries = [...raw].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`).join(',')}}`
}

/** The steps of a parameter's name: a, b and 0 for `a[b][0]`. */
function pathOf(name: string): string[] {
  const [head = '', ...rest] = name.split('[')
  if (head === '' || head.startsWith(']')) throw badParameter('Received a parameter without a name.', {})
  const isClosed = rest.every((step) => /^[^\]]*\]$/.test(step))
  if (head.includes(']') || !isClosed)
    throw badParameter(`Received unknown parameter: ${name.slice(0, 80)}`, { param: name.slice(0, 80) })
  if (rest.length > maxDepth) throw badParameter('Parameters are nested too deeply.', {})
  return [head, ...rest.map((step) => step.slice(0, -1))]
}

function place(root: RawMap, path: readonly string[], value: string): void {
  let map = root
  for (const step of path.slice(0, -1)) {
    const name = step || String(map.size)
    const known = map.get(name)
    const inner: RawMap = known instanceof Map ? known : new Map()
    map.set(name, inner)
    map = inner
  }
  map.set(path.at(-1) || String(map.size), value)
}

function decodePart(text: string): string {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badParameter('The request body is not valid form encoding.', {})
  }
}
