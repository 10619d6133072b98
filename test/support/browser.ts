import { undescribed, untranslated } from './described.ts'

/** A response with its parsed envelope. */
export type Answer<Data = Record<string, unknown>> = {
  status: number
  headers: Headers
  text: string
  data: Data
  meta: Record<string, unknown> | undefined
  error: { code: string; message: string; details: Record<string, unknown> }
}

/** A client with a cookie jar that calls the API as a site's front end does. */
export class Browser {
  readonly cookies = new Map<string, string>()
  private readonly apiRoot: string
  private readonly headers: Record<string, string>

  constructor(apiRoot: string, headers: Record<string, string> = {}) {
    this.apiRoot = apiRoot
    this.headers = headers
  }

  /** The origin of the shop's pages. */
  get origin(): string {
    return new URL(this.apiRoot).origin
  }

  get<Data = Record<string, unknown>>(path: string, headers: Record<string, string> = {}): Promise<Answer<Data>> {
    return this.send('GET', path, undefined, headers)
  }

  post<Data = Record<string, unknown>>(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<Answer<Data>> {
    return this.send('POST', path, body, headers)
  }

  async send<Data>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {}
  ): Promise<Answer<Data>> {
    const response = await this.fetch(path.startsWith('http') ? path : `${this.apiRoot}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json')
      ? (JSON.parse(text) as object)
      : {}
    // Every answer in every test must match the API description.
    const wrong = path.startsWith('/')
      ? undescribed(method, path, { status: response.status, headers: response.headers, body: json })
      : []
    if (path.startsWith('/') && new Headers({ ...this.headers, ...headers }).get('accept-language') === null)
      wrong.push(...untranslated(`${method} ${path}`, json))
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
    return { status: response.status, headers: response.headers, text, ...json } as Answer<Data>
  }

  /** Sends a request with the jar's cookies and does not follow redirects. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ ...this.headers, ...(init.headers as Record<string, string>) })
    if (this.cookies.size > 0)
      headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.keep(line)
    return response
  }

  /** Posts a form as a page's button does. */
  form(url: string, fields: Record<string, string>): Promise<Response> {
    return this.fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  }

  /** Follows a redirect of the gateway's page to the shop; returns where the shop sends the buyer. */
  async comeBack(redirect: Response): Promise<string | null> {
    const { pathname, search } = new URL(redirect.headers.get('location') ?? '')
    const { headers } = await this.fetch(`${this.origin}${pathname}${search}`)
    return headers.get('location')
  }

  /** Posts a form and opens the shop's page that it redirects to. */
  async submit(url: string, fields: Record<string, string>): Promise<{ status: number; html: string }> {
    const sent = await this.form(url, fields)
    const target = new URL(sent.headers.get('location') ?? '', url)
    if (sent.status !== 303 || target.pathname !== new URL(url).pathname)
      throw new Error(`the form was answered with ${sent.status}, ${target.href}`)
    const page = await this.fetch(target.href)
    return { status: page.status, html: await page.text() }
  }

  async nonce(): Promise<string> {
    return (await this.get<{ nonce: string }>('/nonce')).data.nonce
  }

  async register(fields: Record<string, unknown> = {}): Promise<Answer> {
    const body = {
      email: 'ada@example.com',
      password: 'tidal-basalt-93',
      displayName: 'Ada Quill',
      acceptTerms: true,
      ...fields
    }
    return this.post('/auth/register', body, { 'x-nonce': await this.nonce() })
  }

  private keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split('=')
    if (value === '' || attributes.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
