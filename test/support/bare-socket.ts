import { connect } from 'node:net'

export type BareAnswer = { status: number; headers: Map<string, string>; body: string }

/**
 * Sends a request exactly as written, where fetch would normalise it: unusual targets, repeated headers, any method. It
 * adds `Host` and `Connection: close`.
 */
export async function bareRequest(
  url: string,
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = ''
): Promise<BareAnswer> {
  const { port, hostname, host } = new URL(url)
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...length, ...headers]
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('utf8')))
  socket.on('error', reject)
  socket.on('close', () => resolve(answer))
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return parse(await promise)
}

function parse(answer: string): BareAnswer {
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
