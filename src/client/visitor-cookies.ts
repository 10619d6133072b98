/** A cookie that the shop sets, for a framework that sets cookies by name or by header. */
export type SetCookie = {
  /** The whole Set-Cookie header. */
  header: string
  name: string
  /** The decoded value. */
  value: string
  options: {
    path: string
    httpOnly: boolean
    secure: boolean
    sameSite: 'lax' | 'strict' | 'none'
    /** In seconds; missing for a cookie of the browser's session. */
    maxAge?: number
    expires?: Date
  }
}

/** The cookies that the proxy forwards, too. */
const shopCookie = /^(__Host-)?shopstead_(session|device|checkout|ref|campaign|consent)$/

/** The shop's cookies of one visitor, while a server renders a page for them. */
export class VisitorCookies {
  #pairs: [name: string, value: string][]

  /**
   * @param header the Cookie header of the visitor's request. The site's other cookies are left out. Repeated ones stay
   *   repeated, so that the service ignores both as a session (docs/contract.md 3).
   */
  constructor(header: string | null) {
    const pairs = (header ?? '').split(';').map((pair) => splitPair(pair))
    this.#pairs = pairs.filter(([name]) => shopCookie.test(name))
  }

  /** The Cookie header for the shop; empty without cookies. */
  get header(): string {
    return this.#pairs.map((pair) => pair.join('=')).join('; ')
  }

  /** Keeps a cookie that the shop sets, so that the next request of the same page sends it. */
  take(header: string): SetCookie {
    const [pair = '', ...attributes] = header.split(';')
    const [name, value] = splitPair(pair)
    const given = new Map(attributes.map((each) => splitPair(each)).map(([key, text]) => [key.toLowerCase(), text]))
    const maxAge = given.get('max-age')
    const expires = given.get('expires')
    this.#pairs = this.#pairs.filter(([known]) => known !== name)
    if (maxAge !== '0') this.#pairs.push([name, value])
    return {
      header,
      name,
      value: decoded(value),
      options: {
        path: given.get('path') ?? '/',
        httpOnly: given.has('httponly'),
        secure: given.has('secure'),
        sameSite: toSameSite(given.get('samesite')),
        ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) }),
        ...(expires === undefined ? {} : { expires: new Date(expires) })
      }
    }
  }
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=')
  return at === -1 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

function toSameSite(value: string | undefined): 'lax' | 'strict' | 'none' {
  const known = value?.toLowerCase()
  return known === 'strict' || known === 'none' ? known : 'lax'
}
