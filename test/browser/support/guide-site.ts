import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rolldown } from 'rolldown'
import { afterAll } from 'vitest'
import { toNodeListener } from '../../../src/proxy/node.ts'
import { createProxy } from '../../../src/proxy/proxy.ts'
import { blocksIn } from '../../docs/pages.ts'
import type { Block } from '../../docs/pages.ts'

const guide = blocksIn('html', 'js').filter(({ file }) => file === 'docs/building-a-site.md')

/** A page of the guide, exactly as it is written there: the script with these words, and the markup before it. */
export function guidePage(words: string): string {
  const at = guide.findIndex(({ language, code }) => language === 'js' && code.includes(words))
  const script = guide[at]
  const markup = guide.slice(0, at).findLast(({ language }) => language === 'html')
  if (script === undefined || markup === undefined) throw new Error(`The guide has no page with "${words}".`)
  return htmlOf(markup, script)
}

function htmlOf(markup: Block, script: Block): string {
  const imports = JSON.stringify({ imports: { 'shopstead/client': '/client.js' } })
  return `<!doctype html><html lang="en"><title>A site</title><script type="importmap">${imports}</script>
${markup.code}<script type="module">${script.code}</script></html>`
}

/**
 * Serves a site on an origin of its own, with these pages by path and the proxy of the shop, until the tests of the file
 * end. Every other path is a page with a heading. Returns the site's address.
 */
export async function serveGuide(shopUrl: string, pages: Readonly<Record<string, string>>): Promise<string> {
  const bundle = await rolldown({ input: 'src/client/client.ts', platform: 'browser' })
  const { output } = await bundle.generate()
  await bundle.close()
  const proxy = toNodeListener(createProxy({ upstream: shopUrl }))
  const server = createServer((req, res) => {
    const path = req.url?.split('?')[0] ?? ''
    if (path.startsWith('/api/secure/')) return proxy(req, res)
    const isScript = path === '/client.js'
    const heading = `<!doctype html><html lang="en"><title>A site</title><h1>The page ${path.slice(1)}</h1></html>`
    res.writeHead(200, { 'content-type': `text/${isScript ? 'javascript' : 'html'}; charset=utf-8` })
    return res.end(isScript ? output[0].code : (pages[path] ?? heading))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
