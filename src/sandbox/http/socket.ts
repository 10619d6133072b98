import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiRequest } from './api.ts'
import type { ApiOutcome } from './errors.ts'

const maxBodyBytes = 1_048_576

export type SandboxServer = { origin: string; port: number; close: () => Promise<void> }

/**
 * Serves the API over HTTP on 127.0.0.1, for stripe-node's own HTTP client. Port 0 (the default) picks a free one.
 * Faults are real ones: a socket that is reset, or one that never answers.
 */
export async function serveSandbox(
  sandbox: { handleApi: (request: ApiRequest) => Promise<ApiOutcome> },
  options: { port?: number } = {}
): Promise<SandboxServer> {
  const server = createServer((request, response) => {
    answer(sandbox.handleApi, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

async function answer(
  handleApi: (request: ApiRequest) => Promise<ApiOutcome>,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const body = await readBody(request)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? '')
    ])
  )
  const outcome = await handleApi({ method: request.method ?? 'GET', path: request.url ?? '/', headers, body })
  if (outcome.kind === 'timeout') return
  if (outcome.kind === 'reset') {
    request.socket.resetAndDestroy()
    return
  }
  response.writeHead(outcome.status, outcome.headers)
  if (outcome.kind === 'answer') response.end(outcome.body)
  else response.write(outcome.body, () => (outcome.kind === 'truncated' ? request.socket.destroy() : undefined))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new RangeError('The request body is over 1 MiB.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
