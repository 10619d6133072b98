import { isIP } from 'node:net'
import type { ReceivedRequest, Interceptor } from './interceptor.ts'
import { expectRefusal, expectStatus } from './rule.ts'
import type { Timeouts, Rule } from './rule.ts'
import type { Reply, Sending, Site } from './site.ts'

const forged = '192.0.2.66'
const unavailable = { status: 503, code: 'DEPENDENCY_UNAVAILABLE' }

/** What can be seen only where the proxy's requests arrive. */
export const upstreamRules: readonly Rule[] = [
  {
    name: 'named-headers-forwarded',
    says: 'X-Nonce, Idempotency-Key, X-Correlation-Id, Content-Type, Accept and If-None-Match arrive as they were sent.',
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
        headers[name]?.join() === value ? [] : [`${name} did not arrive as sent`]
      )
    }
  },
  {
    name: 'other-headers-dropped',
    says: 'No other header of the client arrives.',
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
    says: "The client's Authorization does not arrive.",
    needsInterceptor: true,
    check: (site) => dropped(site, [['Authorization', 'Bearer proxy-check']])
  },
  {
    name: 'forwarding-headers-dropped',
    says: "Nothing of the client's own X-Forwarded-* and Forwarded arrives.",
    needsInterceptor: true,
    check: async (site) => {
      const problems = await dropped(site, [
        ['Forwarded', `for=${forged}`],
        ['X-Forwarded-Host', 'site.invalid'],
        ['X-Forwarded-Port', '6666'],
        ['X-Real-IP', forged]
      ])
      const { headers } = await requestReceived(site, 'GET', '/health', { headers: [['X-Forwarded-For', forged]] })
      const kept = headers['x-forwarded-for']?.join().includes(forged) === true
      return kept ? [...problems, `X-Forwarded-For arrived with the client's own ${forged}`] : problems
    }
  },
  {
    name: 'client-address-forwarded',
    says: "The client's address arrives as X-Forwarded-For, alone.",
    needsInterceptor: true,
    check: async (site) => {
      const { headers } = await requestReceived(site, 'GET', '/health')
      const came = headers['x-forwarded-for']?.join() ?? ''
      return isIP(came) === 0 ? [`X-Forwarded-For is ${came === '' ? 'missing' : JSON.stringify(came)}`] : []
    }
  },
  {
    name: 'own-cookies-only',
    says: "Shopstead's own cookies arrive, each as often as it was sent, and no others.",
    needsInterceptor: true,
    check: async (site) => {
      const cookie = 'theme=dark; shopstead_session=a; shopstead_ref=b; shopstead_session=c; shopstead_campaign=d; x=y'
      const { headers } = await requestReceived(site, 'GET', '/health', { headers: [['Cookie', cookie]] })
      const came = (headers['cookie']?.join('; ') ?? '').split('; ').toSorted()
      const expected = ['shopstead_campaign=d', 'shopstead_ref=b', 'shopstead_session=a', 'shopstead_session=c']
      return came.join() === expected.join() ? [] : [`Cookie arrived as ${JSON.stringify(came.join('; '))}`]
    }
  },
  {
    name: 'query-as-listed',
    says: 'Each route gets exactly the query parameters that it lists.',
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
        if (path !== expected) problems.push(`${sent} arrived as ${path}`)
      }
      return problems
    }
  },
  {
    name: 'named-answer-headers-relayed',
    says: 'Content-Type, ETag, Cache-Control, Retry-After, Allow, X-Request-Id and Idempotency-Replayed come back.',
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
        reply.header(name) === value ? [] : [`${name} did not come back as sent`]
      )
    }
  },
  {
    name: 'other-answer-headers-stripped',
    says: "Nothing of the service's Server, Location and other headers comes back.",
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
      return sent.flatMap(([name, value]) => (reply.all(name).includes(value) ? [`${name} came back`] : []))
    }
  },
  {
    name: 'every-cookie-without-domain',
    says: 'Every Set-Cookie comes back, in its order and without its Domain; Secure stays.',
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
          : [`of three cookies came back: ${names.join(', ') || 'none'}`]),
        ...(cookies.some((cookie) => /;\s*domain\s*=/i.test(cookie)) ? ['a cookie has a Domain'] : []),
        ...(cookies.some((cookie) => /;\s*secure\b/i.test(cookie)) ? [] : ['Secure was lost'])
      ]
    }
  },
  {
    name: 'redirects-not-followed',
    says: 'A redirect of the service is neither followed nor passed on.',
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
        ...(interceptor.received.length - before > 1 ? ['it was followed'] : []),
        ...(reply.status >= 300 && reply.status < 400 ? [`it came back as ${reply.status}`] : [])
      ]
    }
  },
  {
    name: 'service-down',
    says: 'A service that is down is 503 DEPENDENCY_UNAVAILABLE.',
    needsInterceptor: true,
    check: async (site) => {
      const reply = await interceptorOf(site).whileDown(() => site.send('GET', '/health'))
      return expectRefusal('GET /health', reply, unavailable)
    }
  },
  {
    name: 'service-hangs',
    says: 'A service that hangs is given up after 15 s, at a checkout after 30 s.',
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
  if (interceptor === undefined) throw new TypeError('this rule needs to stand between')
  return interceptor
}

/** What arrives when something is sent. */
async function requestReceived(site: Site, method: string, path: string, sending: Sending = {}): Promise<ReceivedRequest> {
  const { received } = interceptorOf(site)
  const before = received.length
  await site.send(method, path, sending)
  const came = received[before]
  if (came === undefined) throw new Error(`${method} ${path} did not arrive at the service`)
  return came
}

async function dropped(site: Site, headers: readonly (readonly [string, string])[]): Promise<string[]> {
  // Each by itself: one that is refused must not hide the others.
  const problems: string[] = []
  for (const header of headers) {
    const [name, value] = header
    const { headers: came } = await requestReceived(site, 'GET', '/health', { headers: [header] })
    if (came[name.toLowerCase()]?.includes(value) === true) problems.push(`${name} arrived`)
  }
  return problems
}

async function sendWithResponder(site: Site, path: string, responder: Parameters<Interceptor['answer']>[1]): Promise<Reply> {
  const end = interceptorOf(site).answer(path, responder)
  try {
    return await site.send('GET', path)
  } finally {
    end()
  }
}

/** What comes back of an answer with these headers. */
function responseRelayed(site: Site, headers: readonly [string, string][]): Promise<Reply> {
  const typed = headers.some(([name]) => name === 'content-type') ? [] : [['content-type', 'application/json']]
  return sendWithResponder(site, '/health', (res) => {
    res.writeHead(200, [...typed, ...headers].flat())
    res.end('{"data":{},"meta":{}}')
  })
}

async function measureTimeout(site: Site, method: string, path: string, limitMs: Timeouts['usualMs']): Promise<string[]> {
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
    const took = `${method} ${path} was given up after ${(tookMs / 1000).toFixed(1)} s instead of ${limitMs / 1000} s`
    // A fifth of grace for the way there and back.
    const inTime = tookMs > limitMs * 0.8 && tookMs < limitMs * 1.2 + 500
    return [...expectStatus(`${method} ${path}`, reply, 503), ...(inTime ? [] : [took])]
  } finally {
    end()
  }
}
