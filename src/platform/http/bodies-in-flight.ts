import { Node, Yallist } from 'yallist'
import { AppError } from '../../errors.ts'

/** One request body, from its first byte until its request ends. */
export type BodyInFlight = {
  /** Counts bytes that have arrived. It may refuse this body or an older one. */
  grow(bytes: number): void
  /** The body is complete, so it cannot be refused any more. Its bytes count until `release`. */
  complete(): void
  /** The request has ended. */
  release(): void
}

/**
 * Limits the memory for the request bodies of a process. Past the limit, it refuses the body that has been arriving for
 * longest: bodies of ordinary clients arrive at once, so clients that send half of a body displace only each other.
 */
export class BodiesInFlight {
  readonly #maxBytes: number
  /** Incomplete bodies and how to refuse each; the one that began first comes first. */
  readonly #arriving = new Yallist<() => void>()
  #bytes = 0
  #refused = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes that all bodies hold now. */
  get bytes(): number {
    return this.#bytes
  }

  /** How many bodies were refused since the process started. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Begins a body.
   *
   * @param refuse stops the body and answers its request with the error (DEPENDENCY_UNAVAILABLE)
   */
  begin(refuse: (error: AppError) => void): BodyInFlight {
    let held = 0
    const release = (): void => {
      this.#bytes -= held
      held = 0
      complete()
    }
    const complete = (): void => {
      if (place.list !== undefined) this.#arriving.removeNode(place)
    }
    const place = new Node(() => {
      release()
      this.#refused += 1
      refuse(tooManyBytes())
    })
    this.#arriving.pushNode(place)
    return {
      grow: (bytes) => {
        held += bytes
        this.#bytes += bytes
        while (this.#bytes > this.#maxBytes && this.#arriving.head !== undefined) this.#arriving.head.value()
      },
      complete,
      release
    }
  }
}

function tooManyBytes(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'The server is receiving too much data at once. Please try again in a moment.',
    {},
    { headers: { 'Retry-After': '2' } }
  )
}

/** The bodies of all requests that this process receives: at most 64 MB. */
export const bodiesInFlight = new BodiesInFlight(64 * 1024 * 1024)
