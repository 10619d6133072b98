import type { ServerResponse } from 'node:http'
import { FastResponse } from 'srvx'
import { FlatHeaders } from './flat-headers.ts'

type Body = string | Uint8Array<ArrayBuffer> | null

/**
 * An answer that is here as a whole, text or bytes. To everybody it is a Response like any other, to be read only: a
 * server of ours writes it in one go, as it was made, without Headers and a stream between.
 */
export class WholeResponse extends FastResponse {
  /** What it says, not read by reading it. */
  readonly content: Body
  readonly #flatHeaders: string[]

  /** @param flatHeaders name and value by turns, as Node takes them unsorted; a name may come more than once */
  constructor(body: Body, status: number, flatHeaders: string[]) {
    super(body, new LateInit(status, flatHeaders))
    this.content = body
    this.#flatHeaders = flatHeaders
  }

  /** Its headers for whoever asks for a few: `headers` makes Headers of them all. */
  get fewHeaders(): FlatHeaders {
    return new FlatHeaders(this.#flatHeaders)
  }

  writeTo(res: ServerResponse): void {
    const body = this.content
    if (body === null) {
      res.writeHead(this.status, this.#flatHeaders).end()
      return
    }
    const length = Buffer.byteLength(body)
    res.writeHead(this.status, [...this.#flatHeaders, 'content-length', String(length)])
    // ASCII, as most answers are, is the same in either, and has not to be looked through again.
    if (typeof body === 'string' && length === body.length) res.end(body, 'latin1')
    else res.end(body)
  }
}

/** Has its headers by name and value only once somebody asks for Headers. */
class LateInit implements ResponseInit {
  readonly status: number
  readonly #flat: readonly string[]

  constructor(status: number, flat: readonly string[]) {
    this.status = status
    this.#flat = flat
  }

  get headers(): [name: string, value: string][] {
    const flat = this.#flat
    return Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2] ?? '', flat[index * 2 + 1] ?? ''])
  }
}
