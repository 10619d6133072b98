const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next'

/**
 * The offset of the first error in text that JSON.parse refused. V8 omits the position from most of its messages, and
 * its messages quote the file.
 */
export function jsonErrorOffset(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const character = text[at] ?? ''
    const next = step(text, at, expected, open)
    if (next === undefined) return at
    at = skipSpace(text, next.end)
    expected = next.expected
    if (expected === 'next' && open.length === 0 && character !== ',') return at
  }
  return text.length
}

function step(
  text: string,
  at: number,
  expected: Expected,
  open: string[]
): { end: number; expected: Expected } | undefined {
  const character = text[at] ?? ''
  if (character === '}' || character === ']') {
    const mayEnd = expected === 'next' || (character === '}' ? expected === 'keyOrEnd' : expected === 'valueOrEnd')
    return mayEnd && open.pop() === character ? { end: at + 1, expected: 'next' } : undefined
  }
  if (expected === 'colon') return character === ':' ? { end: at + 1, expected: 'value' } : undefined
  if (expected === 'next') {
    return character === ',' ? { end: at + 1, expected: open.at(-1) === '}' ? 'key' : 'value' } : undefined
  }
  if (expected === 'key' || expected === 'keyOrEnd') {
    const end = endOfString(text, at)
    return end === undefined ? undefined : { end, expected: 'colon' }
  }
  if (character === '{' || character === '[') {
    open.push(character === '{' ? '}' : ']')
    return { end: at + 1, expected: character === '{' ? 'keyOrEnd' : 'valueOrEnd' }
  }
  const end = character === '"' ? endOfString(text, at) : endOfScalar(text, at)
  return end === undefined ? undefined : { end, expected: 'next' }
}

function endOfScalar(text: string, from: number): number | undefined {
  scalar.lastIndex = from
  return scalar.test(text) ? scalar.lastIndex : undefined
}

function endOfString(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1
    if (text.charCodeAt(at) < 32) return undefined
    if (text[at] !== '\\') continue
    escape.lastIndex = at
    if (!escape.test(text)) return undefined
    at = escape.lastIndex - 1
  }
  return undefined
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (' \t\n\r'.includes(text[at] ?? '.')) at += 1
  return at
}
