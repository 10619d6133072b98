/** Alternating names and values, as in Node's rawHeaders. A name may repeat and have any case. */
export type HeadersFlat = readonly string[]

/** The values of one header in order. @param name in lower case */
export function valuesIn(flat: HeadersFlat, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < flat.length; index += 2) {
    const header = flat[index]
    if (header?.length === name.length && header.toLowerCase() === name) values.push(flat[index + 1] ?? '')
  }
  return values
}

/** Reads single headers like `Headers`, without the cost of building one. */
export class FlatHeaders {
  readonly #flat: HeadersFlat

  constructor(flat: HeadersFlat) {
    this.#flat = flat
  }

  get(name: string): string | null {
    const values = valuesIn(this.#flat, name.toLowerCase())
    return values.length === 0 ? null : values.join(', ')
  }

  getSetCookie(): string[] {
    return valuesIn(this.#flat, 'set-cookie')
  }
}
