import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../../../src/platform/http/listen.ts'
import type { Door } from '../../../src/platform/http/listen.ts'

async function door(): Promise<Door> {
  const opened = await openDoor({ host: '127.0.0.1', port: 0, log: { error() {}, warn() {} } })
  onTestFinished(() => opened.close({ graceMs: 0 }))
  return opened
}

it('answers every request while its server is exchanged, and closes a server after its requests', async () => {
  const { listen, url } = await door()
  const slow = Promise.withResolvers<Response>()
  const arrived = Promise.withResolvers<void>()
  const first = await listen({
    handle: () => {
      arrived.resolve()
      return slow.promise
    }
  })
  const asked = fetch(url)
  await arrived.promise
  await listen({ handle: () => new Response('second') })
  let isClosed = false
  const closing = first.close({ graceMs: 0 }).then(() => (isClosed = true))
  expect(await (await fetch(url)).text()).toBe('second')
  expect(isClosed).toBe(false)
  slow.resolve(new Response('first'))
  expect(await (await asked).text()).toBe('first')
  await closing
  expect(await (await fetch(url)).text()).toBe('second')
})

it('holds a request that arrives between two servers', async () => {
  const { listen, url } = await door()
  const first = await listen({ handle: () => new Response('first') })
  await first.close({ graceMs: 0 })
  const asked = fetch(url)
  await listen({ handle: () => new Response('second') })
  expect(await (await asked).text()).toBe('second')
})
