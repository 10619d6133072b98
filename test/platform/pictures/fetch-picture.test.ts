import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { fetchPicture } from '../../../src/platform/pictures/fetch-picture.ts'
import type { FetchOptions } from '../../../src/platform/pictures/fetch-picture.ts'
import { PictureError } from '../../../src/platform/pictures/picture-kind.ts'
import { isPublicAddress } from '../../../src/platform/pictures/public-address.ts'

/** A server on 127.0.0.1; returns its port. */
async function serverOf(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function outcomeOf(url: string, options: FetchOptions = {}): Promise<string> {
  try {
    return (await fetchPicture(url, options)).toString()
  } catch (error) {
    if (error instanceof PictureError) return error.message
    throw error
  }
}

const privateNetwork =
  'The address belongs to a private network. Pass --allow-private if pictures may be fetched from there.'

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.1',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:2::1',
  '::ffff:0:7f00:1',
  '192.88.99.1',
  '2001:1::1',
  '2001:10::1',
  '2001:db8::1',
  '5f00::1',
  'fec0::1',
  '192.31.196.1',
  '198.18.0.1',
  '3fff::1',
  '4000::1',
  '2002:7f00:1::',
  'ff02::1',
  'text',
  ''
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

it.each(['1.1.1.1', '172.32.0.1', '8.8.8.8', '2606:4700::1111', '::ffff:1.1.1.1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  }
)

it.each([
  'http://127.0.0.1',
  'http://2130706433',
  'http://0x7f.1',
  'http://[::1]',
  'http://[::ffff:127.0.0.1]',
  'http://localhost'
])('refuses %s unless private addresses are allowed', async (base) => {
  let requests = 0
  const port = await serverOf((_, response) => response.end(String((requests += 1))))
  expect(await outcomeOf(`${base}:${port}/`)).toBe(privateNetwork)
  expect(requests).toBe(0)
})

it('fetches from a private network if that is allowed', async () => {
  const port = await serverOf((_, response) => response.end('picture'))
  expect(await outcomeOf(`http://127.0.0.1:${port}/`, { mayConnect: () => true })).toBe('picture')
  expect(
    await outcomeOf(`http://shop.example:${port}/`, { mayConnect: () => true, resolve: async () => ['127.0.0.1'] })
  ).toBe('picture')
})

it('refuses a name that DNS resolves to private addresses', async () => {
  expect(await outcomeOf('http://shop.example/', { resolve: async () => ['10.0.0.1', 'fd00::1'] })).toBe(privateNetwork)
  expect(await outcomeOf('http://shop.example/', { resolve: async () => [] })).toBe(
    'The host name of the address is not known.'
  )
})

it('refuses a redirect to a private address, by address and by a name whose DNS answer changes', async () => {
  // The address of the test's own server stands for a public one.
  const mayConnect = (address: string): boolean => address === '127.0.0.1'
  let location = 'http://127.0.0.2/metadata'
  const port = await serverOf((_, response) => response.writeHead(302, { location }).end())
  expect(await outcomeOf(`http://127.0.0.1:${port}/`, { mayConnect })).toBe(privateNetwork)
  location = `http://shop.example:${port}/again`
  const answers = ['127.0.0.1', '127.0.0.1', '127.0.0.2']
  const resolve = async (): Promise<string[]> => [answers.shift() ?? '']
  expect(await outcomeOf(`http://shop.example:${port}/`, { mayConnect, resolve })).toBe(privateNetwork)
  expect(answers).toEqual([])
})

it('connects to the address that was checked, also if DNS answers differently a moment later', async () => {
  const port = await serverOf((_, response) => response.end('internal'))
  let lookups = 0
  const resolve = async (): Promise<string[]> => {
    lookups += 1
    return lookups === 1 ? ['192.0.2.255'] : ['127.0.0.1']
  }
  expect(await outcomeOf(`http://shop.example:${port}/`, { resolve })).toBe(privateNetwork)
  expect(lookups).toBe(1)
})

it.each([
  [404, {}, 'The server answered with status 404.'],
  [302, {}, 'The server answered with status 302.'],
  [302, { location: '/again' }, 'The server redirects more than 5 times.'],
  [302, { location: 'file:///etc/passwd' }, 'The server redirects to an address that is not http or https.'],
  [302, { location: 'http://%zz@127.0.0.1/' }, 'The address contains a user name or a password.'],
  [200, { 'content-length': '100' }, 'The connection ended before the picture was complete.']
])('reports status %i with the headers %j', async (status, headers, problem) => {
  const port = await serverOf((_, response) => {
    response.writeHead(status, headers)
    response.write('part')
    if (status === 200) response.flushHeaders()
    setImmediate(() => (status === 200 ? response.destroy() : response.end()))
  })
  expect(await outcomeOf(`http://127.0.0.1:${port}/`, { mayConnect: () => true })).toBe(problem)
})

it('stops reading after 20 MB', async () => {
  const port = await serverOf((_, response) => {
    const chunk = Buffer.alloc(1024 * 1024)
    const send = (): void => {
      while (!response.destroyed && response.write(chunk)) continue
    }
    response.on('drain', send)
    send()
  })
  expect(await outcomeOf(`http://127.0.0.1:${port}/`, { mayConnect: () => true })).toBe(
    'The file is larger than 20 MB.'
  )
})

it('reports a server that cannot be reached', async () => {
  const port = await serverOf(() => undefined)
  expect(await outcomeOf(`https://127.0.0.1:${port}/`, { mayConnect: () => true })).toMatch(
    /^The server could not be reached/
  )
})

it.each(['https://', 'http://shop.example:99999/a.png'])('reports %s, which is not a valid URL', async (url) => {
  expect(await outcomeOf(url)).toBe('The address is not a valid URL.')
})

it('waits for the whole fetch, from the look-up of the name to the last byte, no longer than its time', async () => {
  const port = await serverOf((_, response) => void response.write('part'))
  const tooSlow = 'The server did not send the picture within 30 seconds.'
  const forever = () => new Promise<string[]>(() => undefined)
  expect(await outcomeOf('http://shop.example/', { resolve: forever, timeoutMs: 20 })).toBe(tooSlow)
  const slow = { mayConnect: () => true, timeoutMs: 100 }
  expect(await outcomeOf(`http://127.0.0.1:${port}/`, slow)).toBe(tooSlow)
})
