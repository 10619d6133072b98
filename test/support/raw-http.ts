import { connect } from 'node:net'

export type RawAnswer = { status: number; headers: Map<string, string>; body: string }

/** Writes bytes to a TCP socket, one for each character, and returns everything received until the server closes it. */
export async function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(answer))
  socket.write(Buffer.from(bytes, 'latin1'))
  return promise
}

/**
 * Sends a request exactly as written, where fetch would normalise it: unusual targets, a repeated header, any method.
 * Adds `Host`, `Connection: close` and the length of the body.
 */
export async function rawRequest(
  url: string,
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = ''
): Promise<RawAnswer> {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const host = `Host: ${new URL(url).host}`
  const head = [`${method} ${target} HTTP/1.1`, host, 'Connection: close', ...length, ...headers]
  const answer = await exchange(url, Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`).toString('latin1'))
  return parse(Buffer.from(answer, 'latin1').toString('utf8'))
}

/** Sends a request whose body waits for `meanwhile`, which begins once the server has let the request in. */
export async function slowRequest(
  url: string,
  head: readonly string[],
  body: string,
  meanwhile: () => unknown
): Promise<string> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  const letIn = new Promise((resolve) => socket.once('data', resolve))
  socket.on('data', (chunk) => (answer += chunk.toString('utf8')))
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const length = [`Content-Length: ${body.length}`, 'Expect: 100-continue']
  socket.write(`${[...head, 'Host: x', 'Connection: close', ...length].join('\r\n')}\r\n\r\n`)
  await letIn
  await meanwhile()
  socket.write(body)
  await closed
  return answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
}

function parse(answer: string): RawAnswer {
  const end = answer.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n')
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])
  )
  const rest = answer.slice(end + 4)
  const body = headers.get('transfer-encoding') === 'chunked' ? joined(rest) : rest
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}

/** Decodes a chunked body. The service's answers are ASCII, so chunk sizes count characters. */
function joined(chunked: string): string {
  const end = chunked.indexOf('\r\n')
  const size = Number.parseInt(chunked.slice(0, end), 16)
  if (!size) return ''
  const start = end + 2
  return chunked.slice(start, start + size) + joined(chunked.slice(start + size + 2))
}
