import { isIP } from 'node:net'
import type { ReceivedRequest, Interceptor } from './interceptor.ts'
import { expectRefusal, expectStatus } from './rule.ts'
import type { Timeouts, Rule } from './rule.ts'
import type { Reply, Sending, Site } from './site.ts'

const forged = '192.0.2.66'
const unavailable = { status: 503, code: 'DEPENDENCY_UNAVAILABLE' }

/** The rules that need an interceptor: what the proxy sends to the service, and how it handles the service's responses. */
export const upstreamRules: readonly Rule[] = [
  {
    name: 'named-headers-forwarded',
    says: 'X-Nonce, Idempotency-Key, X-Correlation-Id, Content-Type, Accept and If-None-Match are forwarded unchanged.',
    needsInterceptor: true,
    check: async (site) => {
      const sent: [string, string][] = [
        ['idempotency-key', 'k'.repeat(256)],
        ['x-correlation-id', 'proxy-check-2'],
        ['content-type', 'application/json'],
        ['accept', 'application/json'],
        ['if-none-match', '"proxy-check"'],
        ['x-nonce', site.nonce]
      ]
      const { headers } = await requestReceived(site, 'POST', '/store/checkout-session', { headers: sent, body: '{}' })
      return sent.flatMap(([name, value]) =>
        headers[name]?.join() === value ? [] : [`${name} was not forwarded unchanged`]
      )
    }
  },
  {
    name: 'other-headers-dropped',
    says: "The client's other headers are not forwarded.",
    needsInterceptor: true,
    check: (site) =>
      dropped(site, [
        ['X-Anything', 'else'],
        ['Referer', 'https://site.invalid/page'],
        ['Origin', 'https://site.invalid'],
        ['Range', 'bytes=0-1']
      ])
  },
  {
    name: 'authorization-dropped',
    says: "The client's Authorization header is not forwarded.",
    needsInterceptor: true,
    check: (site) => dropped(site, [['Authorization', 'Bearer proxy-check']])
  },
  {
    name: 'forwarding-headers-dropped',
    says: "The client's own X-Forwarded-*, X-Real-IP and Forwarded headers are not forwarded.",
    needsInterceptor: true,
    check: async (site) => {
      const problems = await dropped(site, [
        ['Forwarded', `for=${forged}`],
        ['X-Forwarded-Host', 'site.invalid'],
        ['X-Forwarded-Port', '6666'],
        ['X-Real-IP', forged]
      ])
      const { headers } = await requestReceived(site, 'GET', '/health', { headers: [['X-Forwarded-For', forged]] })
      const forwarded = headers['x-forwarded-for']?.join().includes(forged) === true
      return forwarded ? [...problems, `X-Forwarded-For was forwarded with the client's own ${forged}`] : problems
    }
  },
  {
    name: 'client-address-forwarded',
    says: "X-Forwarded-For is the client's address and nothing else.",
    needsInterceptor: true,
    check: async (site) => {
      const { headers } = await requestReceived(site, 'GET', '/health')
      const address = headers['x-forwarded-for']?.join() ?? ''
      return isIP(address) === 0 ? [`X-Forwarded-For is ${address === '' ? 'missing' : JSON.stringify(address)}`] : []
    }
  },
  {
    name: 'own-cookies-only',
    says: "Only Shopstead's cookies are forwarded, including repeated ones.",
    needsInterceptor: true,
    check: async (site) => {
      const cookie =
        'theme=dark; shopstead_session=a; shopstead_ref=b; shopstead_session=c; shopstead_campaign=d; shopstead_device=e; x=y'
      const { headers } = await requestReceived(site, 'GET', '/health', { headers: [['Cookie', cookie]] })
      const forwarded = (headers['cookie']?.join('; ') ?? '').split('; ').toSorted()
      const expected = [
        'shopstead_campaign=d',
        'shopstead_device=e',
        'shopstead_ref=b',
        'shopstead_session=a',
        'shopstead_session=c'
      ]
      return forwarded.join() === expected.join()
        ? []
        : [`Cookie was forwarded as ${JSON.stringify(forwarded.join('; '))}`]
    }
  },
  {
    name: 'query-as-listed',
    says: 'Exactly the query parameters that a route lists are forwarded.',
    needsInterceptor: true,
    check: async (site) => {
      const lines: [string, string][] = [
        ['/orders?page=2&user=7&perPage=3', '/orders?page=2&perPage=3'],
        ['/affiliates/referrals?cursor=abc&limit=5&affiliate=9', '/affiliates/referrals?cursor=abc&limit=5'],
        ['/nonce?page=1', '/nonce']
      ]
      const problems: string[] = []
      for (const [sent, expected] of lines) {
        const { path } = await requestReceived(site, 'GET', sent, { headers: [['X-Nonce', site.nonce]] })
        if (path !== expected) problems.push(`${sent} was forwarded as ${path}`)
      }
      return problems
    }
  },
  {
    name: 'named-answer-headers-relayed',
    says: 'Content-Type, ETag, Cache-Control, Retry-After, Allow, X-Request-Id and Idempotency-Replayed are returned.',
    needsInterceptor: true,
    check: async (site) => {
      const sent: [string, string][] = [
        ['content-type', 'application/json; charset=utf-8'],
        ['etag', '"proxy-check"'],
        ['cache-control', 'no-store'],
        ['retry-after', '7'],
        ['allow', 'GET'],
        ['x-request-id', 'proxy-check-3'],
        ['idempotency-replayed', 'true']
      ]
      const reply = await responseRelayed(site, sent)
      return sent.flatMap(([name, value]) =>
        reply.header(name) === value ? [] : [`${name} was not returned unchanged`]
      )
    }
  },
  {
    name: 'other-answer-headers-stripped',
    says: "The service's other headers, such as Server and Location, are not returned.",
    needsInterceptor: true,
    check: async (site) => {
      const sent: [string, string][] = [
        ['server', 'proxy-check'],
        ['location', 'http://proxy-check.invalid/'],
        ['x-powered-by', 'proxy-check'],
        ['via', '1.1 proxy-check'],
        ['access-control-allow-origin', '*']
      ]
      const reply = await responseRelayed(site, sent)
      return sent.flatMap(([name, value]) => (reply.all(name).includes(value) ? [`${name} was returned`] : []))
    }
  },
  {
    name: 'every-cookie-without-domain',
    says: 'All Set-Cookie headers are returned in order, without Domain and with Secure.',
    needsInterceptor: true,
    check: async (site) => {
      const reply = await responseRelayed(site, [
        ['set-cookie', 'shopstead_session=a; Domain=inner.invalid; Path=/; HttpOnly; Secure; SameSite=Lax'],
        ['set-cookie', 'shopstead_ref=b; Path=/; domain=inner.invalid'],
        ['set-cookie', 'shopstead_campaign=c; Path=/']
      ])
      const cookies = reply.all('set-cookie')
      const names = cookies.map((cookie) => cookie.split('=')[0])
      return [
        ...(names.join() === 'shopstead_session,shopstead_ref,shopstead_campaign'
          ? []
          : [`the service set three cookies, the proxy returned ${names.join(', ') || 'none'}`]),
        ...(cookies.some((cookie) => /;\s*domain\s*=/i.test(cookie)) ? ['a cookie has a Domain'] : []),
        ...(cookies.some((cookie) => /;\s*secure\b/i.test(cookie)) ? [] : ['Secure was lost'])
      ]
    }
  },
  {
    name: 'redirects-not-followed',
    says: "The service's redirects are neither followed nor returned.",
    needsInterceptor: true,
    check: async (site) => {
      const interceptor = interceptorOf(site)
      const before = interceptor.received.length
      const reply = await sendWithResponder(
        site,
        '/health',
        (res) => void res.writeHead(302, { location: '/api/v1/nonce' }).end()
      )
      return [
        ...(interceptor.received.length - before > 1 ? ['the redirect was followed'] : []),
        ...(reply.status >= 300 && reply.status < 400 ? [`the redirect was returned as ${reply.status}`] : [])
      ]
    }
  },
  {
    name: 'service-down',
    says: 'While the service is down, requests return 503 DEPENDENCY_UNAVAILABLE.',
    needsInterceptor: true,
    check: async (site) => {
      const reply = await interceptorOf(site).whileDown(() => site.send('GET', '/health'))
      return expectRefusal('GET /health', reply, unavailable)
    }
  },
  {
    name: 'service-hangs',
    says: 'A request times out after 15 s, and a checkout after 30 s.',
    needsInterceptor: true,
    check: async (site, { usualMs, checkoutMs }) => {
      const [usual, checkout] = await Promise.all([
        measureTimeout(site, 'GET', '/health', usualMs),
        measureTimeout(site, 'POST', '/store/checkout-session', checkoutMs)
      ])
      return [...usual, ...checkout]
    }
  }
]

function interceptorOf({ interceptor }: Site): Interceptor {
  if (interceptor === undefined) throw new TypeError('this rule needs an interceptor')
  return interceptor
}

/** Sends a request and returns it as the service received it. */
async function requestReceived(
  site: Site,
  method: string,
  path: string,
  sending: Sending = {}
): Promise<ReceivedRequest> {
  const { received } = interceptorOf(site)
  const before = received.length
  await site.send(method, path, sending)
  const request = received[before]
  if (request === undefined) throw new Error(`${method} ${path} did not reach the service`)
  return request
}

async function dropped(site: Site, headers: readonly (readonly [string, string])[]): Promise<string[]> {
  // One request for each header, because a refused one would hide the others.
  const problems: string[] = []
  for (const header of headers) {
    const [name, value] = header
    const { headers: forwarded } = await requestReceived(site, 'GET', '/health', { headers: [header] })
    if (forwarded[name.toLowerCase()]?.includes(value) === true) problems.push(`${name} was forwarded`)
  }
  return problems
}

async function sendWithResponder(
  site: Site,
  path: string,
  responder: Parameters<Interceptor['answer']>[1]
): Promise<Reply> {
  const end = interceptorOf(site).answer(path, responder)
  try {
    return await site.send('GET', path)
  } finally {
    end()
  }
}

/** Lets the service respond with these headers and returns the proxy's response. */
function responseRelayed(site: Site, headers: readonly [string, string][]): Promise<Reply> {
  const typed = headers.some(([name]) => name === 'content-type') ? [] : [['content-type', 'application/json']]
  return sendWithResponder(site, '/health', (res) => {
    res.writeHead(200, [...typed, ...headers].flat())
    res.end('{"data":{},"meta":{}}')
  })
}

async function measureTimeout(
  site: Site,
  method: string,
  path: string,
  limitMs: Timeouts['usualMs']
): Promise<string[]> {
  const end = interceptorOf(site).answer(path, () => undefined)
  const started = performance.now()
  try {
    const body = method === 'POST' ? { body: '{}' } : {}
    const headers = [
      ['X-Nonce', site.nonce],
      ['Content-Type', 'application/json']
    ] as const
    const reply = await site.send(method, path, { headers, ...body })
    const tookMs = performance.now() - started
    const took = `${method} ${path} timed out after ${(tookMs / 1000).toFixed(1)} s instead of ${limitMs / 1000} s`
    // A tolerance of one fifth for the network.
    const inTime = tookMs > limitMs * 0.8 && tookMs < limitMs * 1.2 + 500
    return [...expectStatus(`${method} ${path}`, reply, 503), ...(inTime ? [] : [took])]
  } finally {
    end()
  }
}
