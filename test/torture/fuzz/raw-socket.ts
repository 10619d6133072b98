import { connect } from 'node:net'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { cut } from './draft.ts'
import { verifyAny } from './verify.ts'
import type { WatchedShop } from './watched-shop.ts'
import { takeAnswer } from './connection.ts'
import type { Answer } from './connection.ts'

/** Bytes for one connection. */
type Raw = {
  bytes: Buffer
  /** The maximum number of responses. One more would answer a smuggled request. */
  most: number
  /** The minimum number of responses. */
  least?: number
  /** What the client does then: ends its side, closes the connection, or stays silent. */
  after: 'end' | 'leave' | 'stay'
}

type RawGenerator = (random: Random, host: string, paths: readonly string[]) => Raw

const text = (content: string, more: Partial<Raw> = {}): Raw => ({
  bytes: Buffer.from(content, 'latin1'),
  most: 1,
  after: 'end',
  ...more
})

const generators: readonly RawGenerator[] = [
  function requestLines(random, host, paths) {
    const path = random.pick(paths)
    const line = random.pick([
      `GET ${path}`,
      `GET  ${path} HTTP/1.1`,
      `GET ${path} HTTP/1.1 `,
      ` GET ${path} HTTP/1.1`,
      `GET\t${path}\tHTTP/1.1`,
      `GET ${path} HTTP/1.2`,
      `GET ${path} HTTP/2.0`,
      `GET ${path} HTTP/0.9`,
      `GET ${path} HTTP/11.1`,
      `GET ${path} HTTP/-1`,
      `GET ${path} http/1.1`,
      `GET ${path} ICE/1.0`,
      `${'G'.repeat(5_000)} ${path} HTTP/1.1`,
      `GET ${path}${'x'.repeat(20_000)} HTTP/1.1`,
      `G\0T ${path} HTTP/1.1`,
      `GET ${path}\0 HTTP/1.1`,
      `GET /\x7f\xff\xc0\xaf HTTP/1.1`,
      `GET http://${host}${path} HTTP/1.1`,
      `GET https://evil.example${path} HTTP/1.1`,
      `GET http://[1::2::3]${path} HTTP/1.1`,
      `GET http:// HTTP/1.1`,
      `GET ://${path} HTTP/1.1`,
      `CONNECT ${host} HTTP/1.1`,
      `OPTIONS * HTTP/1.1`,
      `GET * HTTP/1.1`,
      `PRI * HTTP/2.0`,
      `GET ? HTTP/1.1`,
      `GET # HTTP/1.1`,
      `\r\n\r\nGET ${path} HTTP/1.1`,
      'EHLO shop.example',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
    ])
    return text(`${line}\r\nHost: ${host}\r\n\r\n`)
  },
  function hosts(random, _host, paths) {
    const value = random.pick([
      '[1::2::3]',
      '[::1',
      '[v1.x]',
      '',
      ' ',
      'a b',
      '%',
      '%zz',
      'a,b',
      'user:pass@x',
      'x:y',
      'x:99999',
      ':80',
      'é',
      '<script>',
      '\\',
      'x/y',
      '..',
      '*',
      '[fe80::1%eth0]',
      '0',
      'x'.repeat(8_000)
    ])
    return text(
      `${random.pick(['GET', 'POST', 'HEAD'])} ${random.pick(paths)} HTTP/1.1\r\nHost: ${value}\r\nContent-Length: 0\r\n\r\n`
    )
  },
  function headers(random, host, paths) {
    const line = random.pick([
      'no colon',
      ': no name',
      'X: a\r\n folded',
      'X: a\nY: b',
      'X: a\rY: b',
      'X\0: a',
      'X: \0',
      'X : a',
      'X: \x01\x7f',
      `X: ${'y'.repeat(17_000)}`,
      `${'X'.repeat(17_000)}: y`,
      'Content-Length: -1',
      'Content-Length: 1e3',
      'Content-Length: 18446744073709551616',
      'Transfer-Encoding: \x0bchunked',
      'Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
      'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==',
      'Expect: 100-continue',
      'Expect: the-unexpected',
      'Host: other.example',
      'X-Many: y\r\n'.repeat(3_000).trimEnd()
    ])
    return text(`GET ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\n${line}\r\n\r\n`)
  },
  function smuggled(random, host, paths) {
    const hidden = `GET ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const to = `POST ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`
    const framing = random.pick([
      `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
      `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
      `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
      `Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n${hidden}`,
      `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
      `Content-Length: +0\r\n\r\n${hidden}`,
      `Transfer-Encoding: chunked\r\n\r\n0\n\n${hidden}`,
      `Transfer-Encoding: chunked\r\n\r\n0;a=\n\r\n\r\n${hidden}`
    ])
    return text(`${to}${framing}`)
  },
  function brokenChunks(random, host, paths) {
    const chunks = random.pick([
      'x\r\n',
      '5\r\nab\r\n0\r\n\r\n',
      'ffffffffffffffff\r\n',
      '-1\r\n',
      '3\r\nabcX0\r\n\r\n',
      '1;'.padEnd(20_000, 'x'),
      '5\r\nab',
      '0\r\nbad trailer\r\n\r\n',
      ' 5\r\nhello\r\n0\r\n\r\n',
      '0x5\r\nhello\r\n0\r\n\r\n'
    ])
    return text(
      `POST ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`
    )
  },
  function halves(random, host, paths) {
    const whole = `POST ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"email":"a@b.example","password":"`
    return text(whole.slice(0, random.between(0, whole.length)), { after: random.pick(['end', 'leave', 'stay']) })
  },
  function pipelined(random, host, paths) {
    const count = random.pick([2, 5, 20, 60])
    const ask = (): string => {
      const body = random.oneIn(2) ? '' : random.oneIn(2) ? '{}' : '{"a":'
      return `${body === '' ? 'GET' : 'POST'} ${random.pick(paths)} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    }
    const asked = Array.from({ length: count }, ask).join('')
    const left = random.oneIn(4)
    // A connection that sends more at once than this may be refused and closed.
    const least = left ? 0 : Math.min(count, 16)
    return text(asked, { most: count, least, after: left ? 'leave' : 'end' })
  },
  function noise(random) {
    return { bytes: random.bytes(random.pick([1, 20, 500])), most: 1, after: random.pick(['end', 'leave', 'stay']) }
  }
]

const concurrency = 24

/** Sends invalid HTTP to a server, each time on a new connection. */
export async function fuzzRawSocket(
  shop: WatchedShop,
  { paths, times, name, url }: { paths: readonly string[]; times: number; name: string; url: string },
  trial: Trial
): Promise<void> {
  const random = trial.random.fork()
  const { host } = new URL(url)
  const reports = new Map<string, string>()
  const openSockets: (() => void)[] = []
  let left = times
  const talk = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const make = random.pick(generators)
      const raw = make(random, host, paths)
      for (const wrong of verify(raw, await exchange(url, raw, openSockets), shop))
        reports.set(
          `${make.name} ${wrong.slice(0, 60)}`,
          `${wrong}\n${cut(JSON.stringify(raw.bytes.toString('latin1')), 600)}`
        )
      // A limited number, because the abuse part tests many open connections.
      if (openSockets.length > 100) openSockets.shift()?.()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, talk))
  for (const leave of openSockets) leave()
  for (const report of reports.values()) trial.violation(`${name}: ${report}`)
  for (const problem of new Set(shop.logProblems())) trial.violation(`${name}: ${problem}`)
  trial.count(name, times)
}

const timeoutMs = 20_000
/** If no response is required, the client ends its side after this time without data. */
const quietMs = 100

/** The bytes received until the server closed the connection; null if it did not close it. */
function exchange(url: string, { bytes, after, least = 0 }: Raw, openSockets: (() => void)[]): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const settle = (result: Buffer | null): void => {
      clearTimeout(timeout)
      clearTimeout(quiet)
      resolve(result)
    }
    const timeout = setTimeout(() => {
      settle(null)
      socket.destroy()
    }, timeoutMs)
    socket.on('error', () => undefined)
    // Node drops pending responses when the client ends its side, so the client does that late.
    const quiet = setTimeout(() => socket.end(), quietMs)
    if (least > 0 || after !== 'end') clearTimeout(quiet)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (least === 0) quiet.refresh()
      else if (answersIn(received).length >= least) socket.end()
    })
    socket.on('close', () => settle(received))
    socket.write(bytes, () => {
      if (after === 'leave') socket.destroy()
      if (after === 'stay') {
        openSockets.push(() => socket.destroy())
        settle(Buffer.alloc(0))
      }
    })
  })
}

function verify({ most, least = 0 }: Raw, received: Buffer | null, { secrets }: WatchedShop): string[] {
  if (received === null) return ['the connection was never closed']
  const answers = answersIn(received)
  const wrong = answers.flatMap((answer) => verifyAny(answer, secrets))
  const count = answers.filter(({ status }) => status >= 200).length
  if (count > most) wrong.push(`${count} responses to ${most} requests`)
  if (count < least) wrong.push(`${count} responses to ${least} requests`)
  return wrong
}

function answersIn(received: Buffer): Answer[] {
  const answers: Answer[] = []
  let rest = received
  for (let taken = takeAnswer(rest, 'GET', false); taken !== undefined; taken = takeAnswer(rest, 'GET', false)) {
    answers.push(taken.answer)
    rest = taken.rest
  }
  return answers
}
