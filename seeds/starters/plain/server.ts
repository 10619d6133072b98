import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { createProxy } from '@shopstead/proxy'
import { toNodeListener } from '@shopstead/proxy/node'
import { readBody } from './body.ts'
import { sendFile } from './files.ts'
import { sendPage } from './pages.ts'
import { addressHeader, shopPublicUrl, shopUrl, site } from './site.ts'

const handle = createProxy({ upstream: shopUrl, publicUrl: site.publicUrl })
/** Without a header, the address of the connection is the visitor's. */
const proxy = toNodeListener((request, context) =>
  handle(request, addressHeader === undefined ? context : { clientAddress: request.headers.get(addressHeader) })
)

/** The shop's own pages: payment, orders by the link of an email, and pictures. */
const shopPages = /^\/(checkout|media|invoices|account\/verify|account\/reset)\//

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = URL.parse(`${site.publicUrl}${req.url ?? '/'}`)
  if (url === null) return void res.writeHead(400).end()
  const { pathname, search } = url
  if (pathname.startsWith('/api/secure/')) return proxy(req, res)
  if (shopPages.test(pathname)) {
    return void res.writeHead(307, { location: `${shopPublicUrl}${pathname}${search}` }).end()
  }
  if (pathname === '/cart/address') return await sendAddressFields(req, res, search)
  if (await sendFile(pathname, req, res)) return
  await sendPage(url, req, res)
}

/** The fields of a country's address, and their check. The shop answers with the HTML of the fields. */
async function sendAddressFields(req: IncomingMessage, res: ServerResponse, search: string): Promise<void> {
  const body = await readBody(req)
  const closed = new Response(null, { status: 503 })
  const response = await fetch(`${shopUrl}/cart/address${search}`, {
    method: req.method ?? 'GET',
    headers: {
      'accept-language': site.language,
      ...(body === '' ? {} : { 'content-type': req.headers['content-type'] ?? '' })
    },
    ...(body === '' ? {} : { body })
  }).catch(() => closed)
  res.writeHead(response.status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  res.end(await response.text())
}

const server = createServer((req, res) => {
  answer(req, res).catch((error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`)
    if (res.headersSent) res.destroy()
    else
      res
        .writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
        .end('Something went wrong. Try again later.\n')
  })
})
const port = Number(process.env['PORT'] ?? (new URL(site.publicUrl).port || 8080))
server.listen(port, () => process.stdout.write(`The site listens on ${site.publicUrl}\n`))
