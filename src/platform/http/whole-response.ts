import type { ServerResponse } from 'node:http'
import { FastResponse } from 'srvx'
import { FlatHeaders } from './flat-headers.ts'

type Body = string | Uint8Array<ArrayBuffer> | null

/**
 * A response whose whole body is available as text or bytes. Other code can read it like any Response; the listener
 * writes it with one call, without building Headers or a stream.
 */
export class WholeResponse extends FastResponse {
  /** The body. Reading this property does not consume the response. */
  readonly content: Body
  readonly #flatHeaders: string[]

  /** @param flatHeaders alternating names and values, as Node's writeHead accepts them; a name may repeat */
  constructor(body: Body, status: number, flatHeaders: string[]) {
    super(body, new LateInit(status, flatHeaders))
    this.content = body
    this.#flatHeaders = flatHeaders
  }

  /** The headers for reading a few of them: `headers` would build Headers from all. */
  get fewHeaders(): FlatHeaders {
    return new FlatHeaders(this.#flatHeaders)
  }

  /** Writes status, headers and body to Node's response. `more` are further headers, as alternating names and values. */
  writeTo(res: ServerResponse, more: readonly string[] = []): void {
    const body = this.content
    if (body === null) {
      res.writeHead(this.status, [...this.#flatHeaders, ...more]).end()
      return
    }
    res.writeHead(this.status, [...this.#flatHeaders, ...more, 'content-length', String(Buffer.byteLength(body))])
    res.end(body)
  }
}

/** Builds the pairs of names and values only when `headers` is read. */
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
