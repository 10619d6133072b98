import { headerValues, rawPath, rawTarget } from '../../src/platform/http/client-address.ts'

/** A fault of a proxy: in the request it receives, in the request it forwards, or in the response it returns. */
export type Fault = {
  before?: (request: Request, apiRoot: string) => Request | Promise<Request | Response>
  send?: (request: Request, original: Request) => Request | Promise<Response>
  after?: (response: Response, original: Request) => Response
  timeoutMs?: (usualMs: number) => number
}

const plain = (path: string, request: Request, more: RequestInit = {}): Request =>
  new Request(`http://site.invalid${path}`, { method: request.method, headers: request.headers, ...more })

function withHeaders(request: Request, change: (headers: Headers) => void): Request {
  const headers = new Headers(request.headers)
  change(headers)
  return new Request(request, { headers })
}

function withResponseHeaders(response: Response, change: (headers: Headers) => void): Response {
  const headers = new Headers(response.headers)
  change(headers)
  return new Response(response.body, { status: response.status, headers })
}

const without =
  (name: string): NonNullable<Fault['send']> =>
  (request) =>
    withHeaders(request, (headers) => headers.delete(name))
const responseWithout =
  (name: string): NonNullable<Fault['after']> =>
  (response) =>
    withResponseHeaders(response, (headers) => headers.delete(name))
const forwarding =
  (name: string): NonNullable<Fault['send']> =>
  (request, original) =>
    withHeaders(request, (headers) => {
      const value = original.headers.get(name)
      if (value !== null) headers.set(name, value)
    })
const refuse = (status: number, code = 'REFUSED'): Response =>
  Response.json({ error: { code, message: 'No.', details: {} }, meta: {} }, { status })

/** For each rule's name, a fault that breaks the rule. */
export const faults: Readonly<Record<string, Fault>> = {
  'known-paths-only': {
    before: async (request, apiRoot) =>
      rawTarget(request).endsWith('/webhooks/stripe')
        ? fetch(`${apiRoot}/webhooks/stripe`, { method: 'POST' })
        : request
  },
  'no-path-tricks': {
    before: (request) => {
      const target = rawTarget(request)
      return /%|;|\\|\/\//.test(rawPath(target)) ? plain(decodeURIComponent(target), request) : request
    }
  },
  'known-methods-only': {
    before: (request) => (request.method === 'DELETE' ? plain(rawTarget(request), request, { method: 'GET' }) : request)
  },
  'cross-site-refused': {
    before: (request) => {
      request.headers.delete('sec-fetch-site')
      request.headers.delete('origin')
      return request
    }
  },
  'nonce-required': {
    before: async (request, apiRoot) => {
      if (request.headers.has('x-nonce')) return request
      const { data } = (await (await fetch(`${apiRoot}/nonce`)).json()) as { data: { nonce: string } }
      const { method, headers } = request
      const body = method === 'GET' || method === 'HEAD' ? null : '{}'
      return new Request(`http://site.invalid${rawTarget(request)}`, {
        method,
        headers: { ...Object.fromEntries(headers), 'x-nonce': data.nonce },
        body
      })
    }
  },
  'nonce-checked': { send: without('x-shopstead-proxy') },
  'one-nonce-only': {
    send: (request, original) =>
      withHeaders(request, (headers) => {
        const [first] = headerValues(original, 'x-nonce')
        if (first !== undefined) headers.set('x-nonce', first)
      })
  },
  'open-without-nonce': {
    before: (request) =>
      request.headers.has('x-nonce') || !rawTarget(request).includes('offers')
        ? request
        : Promise.resolve(refuse(403, 'CSRF_FAILED'))
  },
  'nonce-forwarded': {
    send: (request, original) =>
      original.headers.get('connection')?.includes('x-nonce') === true
        ? withHeaders(request, (headers) => headers.delete('x-nonce'))
        : request
  },
  'query-dropped': {
    send: (request, original) => {
      const query = rawTarget(original).split('?')[1]
      return query === undefined || request.method !== 'GET'
        ? request
        : new Request(`${request.url.split('?')[0]}?${query}`, request)
    }
  },
  'query-forwarded': { send: (request) => new Request(request.url.split('?')[0] ?? '', request) },
  'body-forwarded': {
    send: (request) => (request.method === 'POST' ? new Request(request, { method: 'POST', body: '{}' }) : request)
  },
  'content-type-forwarded': {
    send: (request) => withHeaders(request, (headers) => headers.set('content-type', 'application/json'))
  },
  'body-limit': {
    before: (request) =>
      Number(request.headers.get('content-length')) > 32_768
        ? Promise.resolve(refuse(413, 'PAYLOAD_TOO_LARGE'))
        : request
  },
  'correlation-id-forwarded': { send: without('x-correlation-id') },
  'idempotency-key-forwarded': { send: without('idempotency-key') },
  'etag-relayed': { after: responseWithout('etag') },
  'answer-headers-relayed': { after: responseWithout('cache-control') },
  'set-cookie-relayed': { after: responseWithout('set-cookie') },
  'head-answered': {
    before: (request) => (request.method === 'HEAD' ? Promise.resolve(new Response(null, { status: 405 })) : request)
  },
  'refusals-in-envelope': {
    after: (response) => (response.status === 404 ? new Response('Not found', { status: 404 }) : response)
  },
  'no-cors': {
    after: (response) => withResponseHeaders(response, (headers) => headers.set('access-control-allow-origin', '*'))
  },
  'named-headers-forwarded': { send: without('accept') },
  'other-headers-dropped': { send: forwarding('x-anything') },
  'authorization-dropped': { send: forwarding('authorization') },
  'forwarding-headers-dropped': { send: forwarding('x-forwarded-host') },
  'client-address-forwarded': { send: without('x-forwarded-for') },
  'own-cookies-only': { send: forwarding('cookie') },
  'query-as-listed': {
    send: (request) => (request.url.includes('/orders?') ? new Request(`${request.url}&user=7`, request) : request)
  },
  'named-answer-headers-relayed': { after: responseWithout('retry-after') },
  'other-answer-headers-stripped': {
    after: (response) => withResponseHeaders(response, (headers) => headers.set('server', 'proxy-check'))
  },
  'every-cookie-without-domain': {
    after: (response) =>
      withResponseHeaders(response, (headers) => {
        const [first, ...more] = headers.getSetCookie()
        headers.delete('set-cookie')
        if (first !== undefined) headers.set('set-cookie', more.length > 0 ? `${first}; Domain=inner.invalid` : first)
      })
  },
  'redirects-not-followed': { send: (request) => fetch(new Request(request, { redirect: 'follow' })) },
  'service-down': {
    after: (response) => (response.status === 503 ? new Response('Bad gateway', { status: 502 }) : response)
  },
  'service-hangs': { timeoutMs: (usualMs) => usualMs * 5 }
}
