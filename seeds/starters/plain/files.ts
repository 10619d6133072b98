import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files that browsers may read. Scripts also import some modules of storefront/. */
const publicFile = /^\/(assets|storefront)\/[\w-]+\.(css|js|svg|ts)$/
/** The typed client and the scripts that it imports. */
const clientFile = /^\/client\/[\w-]+\.js$/
const clientFolder = dirname(fileURLToPath(import.meta.resolve('@shopstead/client')))

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
  ts: 'text/javascript; charset=utf-8'
}

/** Sends a style, script or picture. False for a path without one. */
export async function sendFile(path: string, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  if (!clientFile.test(path) && !publicFile.test(path)) return false
  const file = clientFile.test(path) ? join(clientFolder, basename(path)) : join(import.meta.dirname, path)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return false
  const body = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`
  const headers = { 'cache-control': 'no-cache', etag, 'x-content-type-options': 'nosniff' }
  if (req.headers['if-none-match'] === etag) res.writeHead(304, headers).end()
  else {
    res.writeHead(200, { ...headers, 'content-type': types[file.slice(file.lastIndexOf('.') + 1)] ?? 'text/plain' })
    res.end(req.method === 'HEAD' ? undefined : body)
  }
  return true
}
