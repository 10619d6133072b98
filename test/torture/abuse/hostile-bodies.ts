import { routes } from '../../../src/api/routes.ts'
import { cookiesOf, dataOf, sendRequest } from '../http-client.ts'
import type { AbuseContext } from './context.ts'

/** The main thread's time that the service may spend on one request of 64 KB, in milliseconds. */
const budgetMs = 20
/** The shortest of several measurements has the least work of other requests in it. */
const tries = 5

const many = (text: string, times: number): string => text.repeat(times)
const each = (times: number, write: (index: number) => string): string =>
  Array.from({ length: times }, (_, index) => write(index)).join()

/** JSON bodies of almost 64 KB, each expensive for a careless parser, check or error message. */
const bodies: Record<string, string> = {
  'a number of 64,000 digits': `{"a":1.${many('0', 64_000)}1}`,
  '1,600 numbers of 39 digits': `{"a":[${each(1_600, () => `1.${many('3', 37)}`)}]}`,
  '8,000 keys': `{${each(8_000, (index) => `"${index.toString(36)}":1`)}}`,
  '4,000 keys __proto__': `{${each(4_000, () => '"__proto__":1')}}`,
  '4,000 objects with __proto__': `{"a":[${each(4_000, () => '{"__proto__":1}').slice(0, 63_999)}]}`,
  '32,000 escapes': `{"a":"${many('\\n', 32_000)}"}`,
  '10,000 Unicode escapes': `{"a":"${many('\\u00e9', 10_000)}"}`,
  '32,000 nested arrays': `{"a":${many('[', 32_000)}${many(']', 32_000)}}`,
  '16,000 items': `{"items":[${each(16_000, () => '{}')}]}`,
  'an email of 64,000 characters': `{"email":"${many('a@', 32_000)}"}`,
  'an email of combining marks': `{"email":"${many('a\u0301\u0323', 8_000)}@b.example"}`,
  'a name of spaces': `{"displayName":"${many(' ', 64_000)}x"}`,
  'a URL of 21,000 dots': `{"items":[{"productId":1,"quantity":1}],"returnUrl":"https://a.example/${many('../', 21_000)}"}`
}

/** Sends each hostile body to each endpoint that accepts JSON, as a logged-in customer, and measures the server's time. */
export async function hostileBodies({ trial, server, stats }: AbuseContext): Promise<void> {
  const headers = await loggedIn(server.apiRoot)
  const slowest = { ms: 0, what: '' }
  for (const { method, path } of routes.filter((route) => route.body !== undefined)) {
    for (const [kind, body] of Object.entries(bodies)) {
      let ms = Infinity
      for (let index = 0; index < tries; index += 1) {
        const before = stats.mainThreadMs()
        await sendRequest(`${server.apiRoot}${path.replaceAll(/\{\w+\}/g, '1')}`, { method, headers, body })
        ms = Math.min(ms, stats.mainThreadMs() - before)
      }
      trial.count('hostile bodies of 64 KB', tries)
      const what = `${method} ${path} with ${kind}`
      if (ms > slowest.ms) Object.assign(slowest, { ms, what })
      if (ms > budgetMs) trial.violation(`${what} took ${ms.toFixed(1)} ms of the event loop, more than ${budgetMs}`)
    }
  }
  trial.figure(`the most expensive body: ${slowest.ms.toFixed(1)} ms (${slowest.what})`)
}

async function loggedIn(apiRoot: string): Promise<Record<string, string>> {
  const own = { 'x-forwarded-for': '203.0.113.200' }
  const nonce = async (headers: Record<string, string>) =>
    dataOf<{ nonce: string }>(await sendRequest(`${apiRoot}/nonce`, { headers })).nonce
  const registered = await sendRequest(`${apiRoot}/auth/register`, {
    headers: { ...own, 'x-nonce': await nonce(own) },
    body: {
      email: `hostile${Date.now()}@example.com`,
      password: 'tidal-basalt-93',
      displayName: 'Ada Quill',
      acceptTerms: true
    }
  })
  dataOf(registered)
  const session = { ...own, cookie: cookiesOf(registered) }
  return { ...session, 'x-nonce': await nonce(session) }
}
