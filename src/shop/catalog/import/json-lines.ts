export type JsonPath = readonly PropertyKey[]

/** Finds the line of a path's value in valid JSON text, for error messages. */
export class JsonLines {
  readonly #text: string
  readonly #lineStarts: number[] = [0]
  // Offsets of the parts of lists and objects, so that many errors do not scan the file many times.
  readonly #entries = new Map<number, number[]>()
  readonly #members = new Map<number, Map<string, number>>()

  constructor(text: string) {
    this.#text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1)
  }

  /** The line of the path's value. If a part of the path is missing, the line of the value it is missing in. */
  lineOf(path: JsonPath): number {
    let at = this.#skipSpace(0)
    for (const key of path) {
      const next = typeof key === 'number' ? this.#entriesOf(at)[key] : this.#membersOf(at).get(String(key))
      if (next === undefined) break
      at = next
    }
    return this.#lineAt(at)
  }

  #lineAt(offset: number): number {
    let low = 0
    let high = this.#lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }

  #entriesOf(at: number): number[] {
    const known = this.#entries.get(at)
    if (known) return known
    const entries: number[] = []
    if (this.#text[at] === '[') {
      for (let next = this.#skipSpace(at + 1); this.#opensEntry(next); next = this.#nextEntry(next)) entries.push(next)
    }
    this.#entries.set(at, entries)
    return entries
  }

  #membersOf(at: number): Map<string, number> {
    const known = this.#members.get(at)
    if (known) return known
    const members = new Map<string, number>()
    if (this.#text[at] === '{') {
      for (let next = this.#skipSpace(at + 1); this.#opensEntry(next);) {
        const end = this.#endOfString(next)
        const value = this.#skipSpace(this.#skipSpace(end) + 1)
        // JSON.parse keeps the last value of a repeated key.
        members.set(JSON.parse(this.#text.slice(next, end)), value)
        next = this.#nextEntry(value)
      }
    }
    this.#members.set(at, members)
    return members
  }

  #opensEntry(at: number): boolean {
    return at < this.#text.length && this.#text[at] !== ']' && this.#text[at] !== '}'
  }

  /** From the start of a value to the start of the next entry, or to the bracket that ends the list. */
  #nextEntry(value: number): number {
    const end = this.#skipSpace(this.#endOfValue(value))
    return this.#text[end] === ',' ? this.#skipSpace(end + 1) : end
  }

  #endOfValue(from: number): number {
    let depth = 0
    for (let at = from; at < this.#text.length; at += 1) {
      const character = this.#text[at]
      if (character === '"') at = this.#endOfString(at) - 1
      else if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') {
        if (depth === 0) return at
        depth -= 1
      } else if (character === ',' && depth === 0) return at
    }
    return this.#text.length
  }

  #endOfString(from: number): number {
    for (let at = from + 1; at < this.#text.length; at += 1) {
      if (this.#text[at] === '\\') at += 1
      else if (this.#text[at] === '"') return at + 1
    }
    return this.#text.length
  }

  #skipSpace(from: number): number {
    let at = from
    while (' \t\n\r'.includes(this.#text[at] ?? '.')) at += 1
    return at
  }
}
