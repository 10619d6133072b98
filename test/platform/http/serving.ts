import { listenHttp, type HttpListener, type HttpOptions } from '../../../src/platform/http/listen.ts'

/** Serves a handler on a free port; `logged` collects its errors. */
export async function serving(
  handle: HttpOptions['handle'],
  options: Partial<HttpOptions> = {}
): Promise<HttpListener & { logged: string[] }> {
  const logged: string[] = []
  const listener = await listenHttp({
    handle,
    host: '127.0.0.1',
    port: 0,
    log: {
      warn: () => undefined,
      error: (_message, fields) => void logged.push(String(fields?.['error']))
    },
    ...options
  })
  return { ...listener, logged }
}
