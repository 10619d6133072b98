import type { Random } from '../random.ts'
import { knownMethods } from './draft.ts'
import type { Draft } from './draft.ts'
import { numbers, oddText, oddWord } from './odd-values.ts'

/** The faults in a request apart from its body, by kind. Each one changes the draft. */
export const corruptions = {
  header: corruptHeaders,
  cookie: corruptCookies,
  query: corruptQuery,
  path: corruptPath,
  framing: corruptFraming
}
export type Corruption = keyof typeof corruptions

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** Sets a header, replacing all values of the same name. */
export function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [...draft.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()), [name, value]]
}

const headerNames = [
  'Content-Type',
  'X-Nonce',
  'Idempotency-Key',
  'X-Correlation-Id',
  'X-Shopstead-Proxy',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'Forwarded',
  'X-Real-IP',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  'If-None-Match',
  'If-Modified-Since',
  'If-Range',
  'Range',
  'Origin',
  'Referer',
  'Sec-Fetch-Site',
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Authorization',
  'Connection',
  'Content-Encoding',
  'Content-Range',
  'Stripe-Signature',
  'TE',
  'Trailer',
  'Upgrade-Insecure-Requests',
  'User-Agent',
  'Via'
] as const

const headerValues: readonly string[] = [
  '',
  '*',
  '"x", W/"y", *',
  ',,,,',
  'null',
  'http://localhost',
  'https://evil.example',
  'same-origin',
  'cross-site',
  'none, none',
  'application/json',
  'application/json; charset=utf-16',
  'application/json;charset="utf-8";',
  'text/plain',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'gzip, br;q=0, *;q=1000',
  'gzip',
  'identity;q=0',
  'text/html',
  'bytes=0-',
  'bytes=-1',
  'bytes=9-1',
  'bytes=0-0,1-1,2-2',
  'bytes=99999999999999999999-',
  'DELETE',
  'Basic Og==',
  'Bearer x',
  '1.2.3.4',
  '::1, ::ffff:10.0.0.1, [2001:db8::1]:80, unknown',
  '1.2.3.4, '.repeat(200),
  'for=1.2.3.4;host=evil.example',
  'close',
  'keep-alive, x-nonce, cookie',
  't=1,v1=00',
  'trailers',
  '1',
  '-1'
]

const hosts = [
  '[1::2::3]',
  '',
  'evil.example',
  'localhost:99999',
  'a b',
  'user@localhost',
  '[::1',
  '%00',
  'ü'.repeat(3),
  '127.0.0.1:',
  '..',
  'localhost:0/x?y#z',
  '1.2.3.4.5',
  '0x7f.1',
  'x'.repeat(300),
  'xn--0'
]

function corruptHeaders(draft: Draft, random: Random): void {
  const name = random.pick(headerNames)
  switch (random.between(1, 10)) {
    case 1:
      return setHeader(draft, name, latin1(oddText(random)).slice(0, random.pick([100, 8_000, 20_000])))
    case 2: {
      if (draft.headers.length === 0) return
      const twice = random.pick(draft.headers)
      return void draft.headers.push([twice[0], random.oneIn(2) ? twice[1] : random.pick(headerValues)])
    }
    case 3:
      return void draft.headers.splice(random.between(0, Math.max(0, draft.headers.length - 1)), 1)
    case 4:
      return setHeader(draft, 'Host', latin1(random.pick(hosts)))
    case 5:
      return void draft.headers.push([
        random.pick(['', ' x', 'X Y', 'x:y', '__proto__', 'constructor', 'é', 'X'.repeat(400)]),
        'x'
      ])
    case 6:
      return void draft.headers.push(
        ...Array.from({ length: random.pick([50, 300]) }, (_, index): [string, string] => [`X-Many-${index}`, 'x'])
      )
    case 7:
      return setHeader(
        draft,
        random.pick(['Expect', 'Upgrade', 'HTTP2-Settings', 'Keep-Alive']),
        random.pick(['100-continue', 'websocket', 'h2c', 'x'])
      )
    default:
      return setHeader(draft, name, random.oneIn(4) ? latin1(oddWord(random)) : random.pick(headerValues))
  }
}

function corruptCookies(draft: Draft, random: Random): void {
  const present = draft.headers.find(([name]) => name === 'Cookie')?.[1] ?? ''
  const own = present === '' ? 'shopstead_session=x' : present
  const cookies: readonly (() => string)[] = [
    () => `${own}; ${own}`,
    () => own.slice(0, random.between(0, own.length)),
    () => `${own}x`,
    () => own.replace('=', '="').concat('"'),
    () => own.replace('=', '=='),
    () => own.replace('shopstead', random.pick(['Shopstead', '__Host-shopstead', ' shopstead', 'shopstead\t'])),
    () => `=${own}; ;;; =; ${own}`,
    () => latin1(`shopstead_session=${oddWord(random)}`),
    () => latin1(`shopstead_ref=${oddWord(random)}; shopstead_campaign=%zz; ${own}`),
    () => `${'a=b; '.repeat(random.pick([100, 1_500]))}${own}`,
    () => `x=${'y'.repeat(random.pick([4_000, 12_000]))}; ${own}`,
    () => `__proto__=x; constructor=y; ${own}`,
    () => `shopstead_session=${random.bytes(32).toString('base64url')}`
  ]
  setHeader(draft, 'Cookie', random.pick(cookies)())
  if (random.oneIn(6)) draft.headers.push(['Cookie', own])
}

function corruptQuery(draft: Draft, random: Random): void {
  const [path = '', ...rest] = draft.target.split('?')
  const pairs = rest
    .join('?')
    .split('&')
    .filter((pair) => pair !== '')
  const name = random.pick([
    'page',
    'perPage',
    'limit',
    'cursor',
    'ref',
    'search',
    'category',
    'token',
    'utm_source',
    '__proto__',
    'x',
    ...pairs.map((pair) => pair.split('=')[0] ?? '')
  ])
  const value = random.pick<() => string>([
    () => '',
    () => random.pick(numbers),
    () => encodeText(oddText(random).slice(0, 4_000)),
    () =>
      random.pick([
        '%',
        '%zz',
        '%ff',
        '%c0%af',
        '%00',
        '%ed%a0%80',
        '%u0041',
        '%25%32%35',
        '+',
        '++%2B',
        '#x',
        '%F0%9F',
        ';a=b',
        '?',
        '/../',
        '=',
        '=='
      ]),
    () => 'x'.repeat(random.pick([101, 256, 9_000]))
  ])()
  const made = random.pick<() => string[]>([
    () => [`${name}=${value}`],
    () => [`${name}=1`, `${name}=${value}`],
    () => [`${name}[]=${value}`, `${name}[]=2`],
    () => [`${name}[a][b]=${value}`],
    () => [name],
    () => [`=${value}`, '', '&'],
    () => [`${encodeText(oddText(random)).slice(0, 2_000)}=${value}`],
    () => [`%zz=${value}`],
    () => Array.from({ length: random.pick([50, 800]) }, (_, index) => `p${index}=1`)
  ])()
  draft.target = `${path}?${(random.oneIn(3) ? made : [...pairs, ...made]).join('&')}`
}

/** A text in percent-encoding, with lone surrogates replaced. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function corruptPath(draft: Draft, random: Random): void {
  const query = draft.target.indexOf('?')
  const path = query === -1 ? draft.target : draft.target.slice(0, query)
  const rest = query === -1 ? '' : draft.target.slice(query)
  const at = random.between(0, path.length)
  const letter = random.between(1, Math.max(1, path.length - 1))
  const made = random.pick<() => string>([
    () => `${path}/`,
    () => `/${path}`,
    () => path.replaceAll('/', '//'),
    () => `${path}/.`,
    () => `${path}/..`,
    () => `/x/..${path}`,
    () => `/.${path}`,
    () =>
      `${path.slice(0, at)}${random.pick(['%2e%2e%2f', '%00', '%2f', '%5c', '%zz', '%', '%c0%af', '%ff', ';x=1', '\\', '..;/', '%20', '%0d%0a', '%25', ':', '@', '*', '~', '|', '"', '<'])}${path.slice(at)}`,
    () => `${path.slice(0, letter)}%${(path.codePointAt(letter) ?? 0x2f).toString(16)}${path.slice(letter + 1)}`,
    () => path.toUpperCase(),
    () => path.slice(0, at),
    () => `${path}${latin1(oddWord(random))}`,
    () => `${path}/${encodeText(oddWord(random))}`,
    () => `http://evil.example${path}`,
    () => `//evil.example${path}`,
    () => `${path}#fragment`,
    () => `${path}${'/x'.repeat(random.pick([100, 4_000]))}`,
    () =>
      random.pick([
        '*',
        '',
        '?',
        '/',
        '//',
        '/..',
        '/%',
        'x',
        'localhost:443',
        '/api',
        '/api/',
        '/api/v1',
        '/api/v1/',
        '/api/secure',
        '/api/secure/',
        '/downloads/',
        '/sandbox/',
        '/assets/',
        '/assets/../app.js'
      ])
  ])()
  draft.target = `${made}${rest}`
}

function corruptFraming(draft: Draft, random: Random): void {
  const { length } = draft.body
  const made = random.pick<() => void>([
    () => void (draft.chunked = true),
    () => void (draft.chunked = true),
    () => void (draft.method = random.pick([...knownMethods, 'CONNECT', 'get', 'FOO', 'QUERY', ''])),
    () => void (draft.method = random.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])),
    () => setHeader(draft, 'Content-Length', String(Math.max(0, length - 1))),
    () =>
      setHeader(
        draft,
        'Content-Length',
        random.pick(['-1', 'x', '1e3', '0x10', '+5', ' 5', '5, 5', '99999999999999999999', ''])
      ),
    () =>
      setHeader(
        draft,
        'Transfer-Encoding',
        random.pick(['gzip', 'chunked, chunked', 'identity', 'xchunked', 'chunked\t', 'gzip, chunked'])
      ),
    () => {
      setHeader(draft, 'Content-Length', String(length))
      draft.headers.push(['Content-Length', String(length + 1)])
    }
  ])
  made()
}
