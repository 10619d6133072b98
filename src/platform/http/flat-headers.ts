/** Names and values by turns, as Node reads and writes them; a name may come more than once, in whatever case. */
export type HeadersFlat = readonly string[]

/** The values of one header, whose name is given in lower case, in their order. */
export function valuesIn(flat: HeadersFlat, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < flat.length; index += 2) {
    const header = flat[index]
    if (header?.length === name.length && header.toLowerCase() === name) values.push(flat[index + 1] ?? '')
  }
  return values
}

/** Asked as Headers are, without the work of making them. */
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
