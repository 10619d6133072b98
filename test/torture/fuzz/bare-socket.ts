import { connect } from 'node:net'
import type { Random } from '../random.ts'
import type { Trial } from '../part.ts'
import { cut } from './draft.ts'
import { judgeAny } from './judge.ts'
import type { WatchedShop } from './watched-shop.ts'
import { takeAnswer } from './wire.ts'
import type { Answer } from './wire.ts'

/** Bytes for a connection of their own. */
type Raw = {
  bytes: Buffer
  /** Answers that there may be at most; a further one would be to a request that was smuggled in. */
  most: number
  /** Answers that there have to be. */
  least?: number
  /** Says no more, leaves in the middle, or stays without a word. */
  after: 'end' | 'leave' | 'stay'
}

type Make = (random: Random, host: string, paths: readonly string[]) => Raw

const text = (content: string, more: Partial<Raw> = {}): Raw => ({
  bytes: Buffer.from(content, 'latin1'),
  most: 1,
  after: 'end',
  ...more
})

const makes: readonly Make[] = [
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
    return text(asked, { most: count, least: left ? 0 : count, after: left ? 'leave' : 'end' })
  },
  function noise(random) {
    return { bytes: random.bytes(random.pick([1, 20, 500])), most: 1, after: random.pick(['end', 'leave', 'stay']) }
  }
]

const lanes = 24

/** Speaks to a server in what is hardly HTTP, each time on a connection of its own. */
export async function talkNonsense(
  shop: WatchedShop,
  { paths, times, name, url }: { paths: readonly string[]; times: number; name: string; url: string },
  trial: Trial
): Promise<void> {
  const random = trial.random.fork()
  const { host } = new URL(url)
  const reports = new Map<string, string>()
  const staying: (() => void)[] = []
  let left = times
  const talk = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const make = random.pick(makes)
      const raw = make(random, host, paths)
      for (const wrong of judge(raw, await exchange(url, raw, staying), shop))
        reports.set(
          `${make.name} ${wrong.slice(0, 60)}`,
          `${wrong}\n${cut(JSON.stringify(raw.bytes.toString('latin1')), 600)}`
        )
      // A few at a time: what a crowd of them does is another part's question.
      if (staying.length > 100) staying.shift()?.()
    }
  }
  await Promise.all(Array.from({ length: lanes }, talk))
  for (const leave of staying) leave()
  for (const report of reports.values()) trial.violation(`${name}: ${report}`)
  for (const complaint of new Set(shop.complaints())) trial.violation(`${name}: ${complaint}`)
  trial.count(name, times)
}

const patienceMs = 20_000
/** After so long without a word no answer will come to what asks for none; then we say that it was all. */
const quietMs = 100

/** What came back until the other side closed; null when it never did. */
function exchange(url: string, { bytes, after, least = 0 }: Raw, staying: (() => void)[]): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let heard = Buffer.alloc(0)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const settle = (result: Buffer | null): void => {
      clearTimeout(patience)
      clearTimeout(quiet)
      resolve(result)
    }
    const patience = setTimeout(() => {
      settle(null)
      socket.destroy()
    }, patienceMs)
    socket.on('error', () => undefined)
    // Node drops the answers that are under way when a client has said its last word, so that comes late.
    const quiet = setTimeout(() => socket.end(), quietMs)
    if (least > 0 || after !== 'end') clearTimeout(quiet)
    socket.on('data', (chunk) => {
      heard = Buffer.concat([heard, chunk])
      if (least === 0) quiet.refresh()
      else if (answersIn(heard).length >= least) socket.end()
    })
    socket.on('close', () => settle(heard))
    socket.write(bytes, () => {
      if (after === 'leave') socket.destroy()
      if (after === 'stay') {
        staying.push(() => socket.destroy())
        settle(Buffer.alloc(0))
      }
    })
  })
}

function judge({ most, least = 0 }: Raw, heard: Buffer | null, { secrets }: WatchedShop): string[] {
  if (heard === null) return ['the connection was never closed']
  const answers = answersIn(heard)
  const wrong = answers.flatMap((answer) => judgeAny(answer, secrets))
  const count = answers.filter(({ status }) => status >= 200).length
  if (count > most) wrong.push(`${count} answers to ${most} requests`)
  if (count < least) wrong.push(`${count} answers to ${least} requests`)
  return wrong
}

function answersIn(heard: Buffer): Answer[] {
  const answers: Answer[] = []
  let rest = heard
  for (let taken = takeAnswer(rest, 'GET', false); taken !== undefined; taken = takeAnswer(rest, 'GET', false)) {
    answers.push(taken.answer)
    rest = taken.rest
  }
  return answers
}
