const timeoutMs = 5_000

/** Sends a request and returns the response, or why there is none. It does not follow redirects. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error && cause.name !== 'TimeoutError'
      ? cause
      : new Error(`no answer within ${timeoutMs / 1000} s`)
  }
}
