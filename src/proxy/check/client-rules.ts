import { allowlist } from '../allowlist.ts'
import { CannotCheck, describeReply, expectRefusal, expectStatus, fieldsOf } from './rule.ts'
import type { Rule } from './rule.ts'
import type { Reply, Sending, Site } from './site.ts'

const json: readonly [string, string] = ['Content-Type', 'application/json']

/**
 * The rules that a client can check. Their requests change nothing: each one is refused, only reads, or logs out without
 * a session.
 */
export const clientRules: readonly Rule[] = [
  {
    name: 'known-paths-only',
    says: 'Paths outside the allowlist, such as the webhook, return 404.',
    check: (site) =>
      each(['GET /nowhere', 'POST /webhooks/stripe', 'GET /', 'GET /HEALTH', 'GET /health/'], async (line) => {
        const [method = '', path = ''] = line.split(' ')
        const body = method === 'POST' ? { body: '{}' } : {}
        const reply = await site.send(method, path.replaceAll(/\{\w+\}/g, '1'), {
          ...body,
          headers: [json, nonceOf(site)]
        })
        return expectRefusal(line, reply, { status: 404, code: 'NOT_FOUND' })
      })
  },
  {
    name: 'no-path-tricks',
    says: 'A path with %, \\, ;, // or .. returns 404 and is not normalised first.',
    check: (site) =>
      each(
        ['/%68ealth', '/health%00', '/health;a=b', '//health', '/x/../health', '/..%2fhealth', '/x\\..\\health'],
        async (path) => expectStatus(path, await site.send('GET', path), 404)
      )
  },
  {
    name: 'known-methods-only',
    says: 'A method that a path does not support returns 405, with Allow.',
    check: (site) =>
      each(['DELETE /me', 'POST /health', 'OPTIONS /auth/login'], async (line) => {
        const [method = '', path = ''] = line.split(' ')
        const reply = await site.send(method, path.replaceAll(/\{\w+\}/g, '1'), { headers: [nonceOf(site)] })
        const refused = expectRefusal(line, reply, { status: 405, code: 'METHOD_NOT_ALLOWED' })
        return refused.length > 0 || reply.header('allow') !== '' ? refused : [`${line}: Allow is missing`]
      })
  },
  {
    name: 'cross-site-refused',
    says: 'A mutating request from another site is refused with CSRF_FAILED, cross_site.',
    check: (site) =>
      each<[string, string]>(
        [
          ['Sec-Fetch-Site', 'cross-site'],
          ['Origin', 'https://other-site.invalid']
        ],
        async (clue) =>
          expectRefusal(clue.join(': '), await site.send('POST', '/auth/logout', { headers: [clue, nonceOf(site)] }), {
            status: 403,
            code: 'CSRF_FAILED',
            reason: 'cross_site'
          })
      )
  },
  {
    name: 'nonce-required',
    says: 'A request without a required nonce is refused with CSRF_FAILED, missing_nonce.',
    check: (site) => everyNonced(site, [], 'missing_nonce')
  },
  {
    name: 'nonce-checked',
    says: 'An invalid nonce is refused with CSRF_FAILED, invalid_nonce. The service checks it if the proxy sends X-Shopstead-Proxy: 1.',
    check: (site) => everyNonced(site, [['X-Nonce', 'x'.repeat(80)]], 'invalid_nonce')
  },
  {
    name: 'one-nonce-only',
    says: 'A request with two X-Nonce headers is refused, even if both are valid.',
    check: async (site) =>
      expectRefusal('two X-Nonce headers', await site.send('GET', '/me', { headers: [nonceOf(site), nonceOf(site)] }), {
        status: 403,
        code: 'CSRF_FAILED',
        reason: 'invalid_nonce'
      })
  },
  {
    name: 'open-without-nonce',
    says: 'GET /nonce, /store/offers and /health work without a nonce.',
    check: (site) =>
      each(['/nonce', '/store/offers', '/health'], async (path) => {
        const reply = await site.send('GET', path)
        return reply.error?.code === 'CSRF_FAILED' ? [`${path}: ${describeReply(reply)}`] : []
      })
  },
  {
    name: 'nonce-forwarded',
    says: 'X-Nonce reaches the service, even if the Connection header names it.',
    check: (site) =>
      each<[string, string][]>([[], [['Connection', 'close, x-nonce']]], async (more) => {
        const reply = await site.send('GET', '/me', { headers: [nonceOf(site), ...more] })
        const what = more.length === 0 ? 'GET /me' : 'GET /me with Connection: x-nonce'
        return expectRefusal(what, reply, { status: 401, code: 'NOT_AUTHENTICATED' })
      })
  },
  {
    name: 'query-dropped',
    says: 'Query parameters that the route does not list are dropped. /store/offers lists none.',
    check: (site) =>
      each(['/store/offers?page=0', '/health?a=1&a=2'], async (path) =>
        expectStatus(path, await site.send('GET', path), 200, 503)
      )
  },
  {
    name: 'query-forwarded',
    says: 'Query parameters that the route lists are forwarded unchanged, including repeated ones, which the service refuses.',
    check: async (site) =>
      expectField(await checkout(site, '?ref=a&ref=b', { body: '{}' }), 'ref', 'checkout-session?ref=a&ref=b')
  },
  {
    name: 'body-forwarded',
    says: 'The body is forwarded unchanged.',
    check: async (site) => {
      const reply = await post(site, '/auth/login', { body: '{"email":' })
      return expectField(reply, '_body', 'POST /auth/login with malformed JSON')
    }
  },
  {
    name: 'content-type-forwarded',
    says: 'Content-Type is forwarded, so that the service can refuse other types than JSON.',
    check: async (site) => {
      const headers = [['Content-Type', 'text/plain'], nonceOf(site)] as const
      const reply = await site.send('POST', '/auth/login', { headers, body: '{}' })
      return expectRefusal('text/plain', reply, { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
    }
  },
  {
    name: 'body-limit',
    says: 'A body of 64 KiB is forwarded. A larger body returns 413.',
    check: async (site) => {
      const sized = (bytes: number): string => `{"email":"${'x'.repeat(bytes - 12)}"}`
      const large = await post(site, '/auth/login', { body: sized(64 * 1024 + 1) })
      const fitting = await post(site, '/auth/login', { body: sized(64 * 1024) })
      return [
        ...expectRefusal('64 KiB and one byte', large, { status: 413, code: 'PAYLOAD_TOO_LARGE' }),
        ...expectRefusal('64 KiB', fitting, { status: 400, code: 'VALIDATION_FAILED' })
      ]
    }
  },
  {
    name: 'correlation-id-forwarded',
    says: 'X-Correlation-Id is forwarded, and the response repeats it in meta.',
    check: async (site) => {
      const reply = await site.send('GET', '/health', { headers: [['X-Correlation-Id', 'proxy-check-1']] })
      const id = reply.meta['correlationId']
      return id === 'proxy-check-1' ? [] : [`meta.correlationId is ${JSON.stringify(id)}`]
    }
  },
  {
    name: 'idempotency-key-forwarded',
    says: 'Idempotency-Key is forwarded.',
    check: async (site) => {
      const reply = await checkout(site, '', { headers: [['Idempotency-Key', 'k'.repeat(256)]], body: '{}' })
      return expectField(reply, 'Idempotency-Key', 'a key of 256 characters')
    }
  },
  {
    name: 'etag-relayed',
    says: 'ETag is returned, If-None-Match is forwarded, and a 304 is returned unchanged.',
    check: async (site) => {
      const offers = await site.send('GET', '/store/offers')
      if (offers.status === 503) throw new CannotCheck('the commerce module is off')
      const etag = offers.header('etag')
      if (etag === '') return ['GET /store/offers: ETag is missing']
      return expectStatus(
        'If-None-Match',
        await site.send('GET', '/store/offers', { headers: [['If-None-Match', etag]] }),
        304
      )
    }
  },
  {
    name: 'answer-headers-relayed',
    says: 'Content-Type, Cache-Control and X-Request-Id are returned.',
    check: async (site) => {
      const reply = await site.send('GET', '/nonce')
      return [
        ...(reply.header('content-type').startsWith('application/json')
          ? []
          : ['Content-Type is not application/json']),
        ...(reply.header('cache-control').includes('no-store')
          ? []
          : ['GET /nonce: Cache-Control: no-store is missing']),
        ...(reply.header('x-request-id') === reply.meta['request_id']
          ? []
          : ['X-Request-Id differs from meta.request_id'])
      ]
    }
  },
  {
    name: 'set-cookie-relayed',
    says: 'Set-Cookie is returned with all attributes except Domain.',
    check: async (site) => {
      const reply = await post(site, '/auth/logout', {})
      const cookie = reply.all('set-cookie').find((line) => /^(__Host-)?shopstead_session=/.test(line))
      if (cookie === undefined) return ['POST /auth/logout: the Set-Cookie that ends the session is missing']
      const secure = cookie.startsWith('__Host-') ? ['secure'] : []
      const missing = ['path=/', 'httponly', 'samesite=lax', ...secure].filter(
        (word) => !cookie.toLowerCase().includes(word)
      )
      return [
        ...missing.map((word) => `the session cookie lost ${word}`),
        ...(/;\s*domain\s*=/i.test(cookie) ? ['the session cookie has a Domain'] : [])
      ]
    }
  },
  {
    name: 'head-answered',
    says: 'HEAD works where GET does, and its response has no body.',
    check: async (site) => {
      const reply = await site.send('HEAD', '/health')
      return [...expectStatus('HEAD /health', reply, 200), ...(reply.text === '' ? [] : ['HEAD /health has a body'])]
    }
  },
  {
    name: 'refusals-in-envelope',
    says: "The proxy's own refusals are {error, meta}, with the request id in meta and in X-Request-Id.",
    check: (site) =>
      each(['GET /nowhere', 'DELETE /me', 'GET /me'], async (line) => {
        const [method = '', path = ''] = line.split(' ')
        const reply = await site.send(method, path)
        const id = reply.meta['request_id']
        if (reply.error === undefined) return [`${line}: the body is not {error, meta}`]
        return typeof id === 'string' && id === reply.header('x-request-id')
          ? []
          : [`${line}: X-Request-Id differs from meta.request_id`]
      })
  },
  {
    name: 'no-cors',
    says: 'No CORS header allows another origin.',
    check: async (site) => {
      const headers = [['Origin', 'https://other-site.invalid']] as const
      const allowed = (await site.send('GET', '/nonce', { headers })).header('access-control-allow-origin')
      return allowed === '' ? [] : [`Access-Control-Allow-Origin is ${allowed}`]
    }
  }
]

function nonceOf({ nonce }: Site): readonly [string, string] {
  return ['X-Nonce', nonce]
}

function post(site: Site, path: string, { headers = [], body }: Sending): Promise<Reply> {
  const all = [nonceOf(site), ...(body === undefined ? [] : [json]), ...headers]
  return site.send('POST', path, { headers: all, ...(body === undefined ? {} : { body }) })
}

async function checkout(site: Site, query: string, sending: Sending): Promise<Reply> {
  const reply = await post(site, `/store/checkout-session${query}`, sending)
  if (reply.error?.code === 'CHECKOUT_DISABLED' || reply.error?.code === 'NOT_AUTHENTICATED')
    throw new CannotCheck('the shop does not accept orders from guests')
  return reply
}

function expectField(reply: Reply, field: string, what: string): string[] {
  return fieldsOf(reply).includes(field) ? [] : [`${what}: expected an error for ${field}, got ${describeReply(reply)}`]
}

/** Sends one request to each route that requires a nonce and expects the refusal with this reason. */
function everyNonced(site: Site, headers: Sending['headers'], reason: string): Promise<string[]> {
  return each(
    allowlist.filter(({ nonce }) => nonce),
    async ({ method, path }) => {
      const body = method === 'GET' ? {} : { body: '{}' }
      const reply = await site.send(method, path.replaceAll(/\{\w+\}/g, '1'), {
        headers: [json, ...(headers ?? [])],
        ...body
      })
      return expectRefusal(`${method} ${path}`, reply, { status: 403, code: 'CSRF_FAILED', reason })
    }
  )
}

async function each<T>(items: readonly T[], check: (item: T) => Promise<string[]>): Promise<string[]> {
  const problems: string[] = []
  for (const item of items) problems.push(...(await check(item)))
  return problems
}
