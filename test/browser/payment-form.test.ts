import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rolldown } from 'rolldown'
import { afterAll, expect, test } from 'vitest'
import { toNodeListener } from '../../src/proxy/node.ts'
import { createProxy } from '../../src/proxy/proxy.ts'
import { blocksIn } from '../docs/pages.ts'
import { newVisitor } from './support/chromium.ts'
import type { Visitor } from './support/chromium.ts'
import { openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop({ SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1,::1' })
const site = await serveGuide()
afterAll(() => site.close())

/** A site on an origin of its own that has the page of docs/building-a-site.md, exactly as it is written there. */
async function serveGuide(): Promise<{ url: string; close(): void }> {
  const guide = blocksIn('html', 'js').filter(({ file }) => file === 'docs/building-a-site.md')
  const markup = guide.find(({ language }) => language === 'html')?.code ?? ''
  const script = guide.find(({ code }) => code.includes('createPaymentForm'))?.code ?? ''
  const bundle = await rolldown({ input: 'src/client/client.ts', platform: 'browser' })
  const { output } = await bundle.generate()
  await bundle.close()
  const imports = JSON.stringify({ imports: { 'shopstead/client': '/client.js' } })
  const page = `<!doctype html><html lang="en"><title>Checkout</title><script type="importmap">${imports}</script>
${markup}<script type="module">${script}</script></html>`
  const answers: Record<string, [type: string, body: string]> = {
    '/pay': ['text/html', page],
    '/client.js': ['text/javascript', output[0].code],
    '/thanks': ['text/html', '<!doctype html><html lang="en"><title>Thanks</title><h1>Thank you</h1></html>']
  }
  const proxy = toNodeListener(createProxy({ upstream: shop.url }))
  const server = createServer((req, res) => {
    if (req.url?.startsWith('/api/secure/')) return proxy(req, res)
    const [type, body] = answers[req.url?.split('?')[0] ?? ''] ?? ['text/plain', 'nothing']
    return res.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close().closeAllConnections()
    }
  }
}

async function openForm(): Promise<Visitor> {
  const visitor = await newVisitor(browser)
  await visitor.page.goto(`${site.url}/pay`)
  await visitor.page.getByLabel('Test card').waitFor()
  return visitor
}

/** The order that the address of the thank-you page names, as the shop has it. */
async function orderAt(address: string): Promise<{ status: string; result: string | null }> {
  const query = new URL(address).searchParams
  const { data } = await shop.visitor().get<{ order: { status: string } }>(`/store/orders/${query.get('orderToken')}`)
  return { status: data.order.status, result: query.get('result') }
}

test('a buyer pays in the form on the site’s own page, after an empty form and a declined card, with one order', async () => {
  const { page, complaints } = await openForm()
  const pay = page.getByRole('button', { name: 'Order and pay' })
  await pay.click()
  await page.locator('#message', { hasText: 'Choose a card.' }).waitFor()
  await page.getByLabel('Test card').selectOption('pm_card_visa_chargeDeclined')
  await pay.click()
  await page.locator('#message', { hasText: 'declined' }).waitFor()
  await page.getByLabel('Test card').selectOption('pm_card_visa')
  await pay.dblclick()
  await page.waitForURL(/\/thanks\?/)
  expect(await orderAt(page.url())).toEqual({ status: 'processing', result: 'success' })
  expect(complaints).toEqual([])
})

test('a buyer confirms a payment at their bank, and comes back to the site', async () => {
  const { page } = await openForm()
  await page.getByLabel('Test card').selectOption('pm_card_threeDSecure2Required')
  await page.getByRole('button', { name: 'Order and pay' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.waitForURL(/\/thanks\?/)
  expect(await orderAt(page.url())).toEqual({ status: 'processing', result: 'success' })
})
