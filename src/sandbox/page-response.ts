export type Page = {
  status: number
  html: string
  /** The answer to a form leads to the shop's return address, and from there to a site that the sandbox does not know. */
  leadsToSite?: true
}

const maxBodyBytes = 16_384

/** The form of a request; undefined for a body that is not a form of at most 16 KiB. */
export async function readForm(request: Request): Promise<FormData | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) return undefined
  const type = request.headers.get('content-type') ?? ''
  if (type === '' || request.body === null) return new FormData()
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type)) return undefined
  return request.formData().catch(() => undefined)
}

/** A field without surrounding spaces; null when it is missing or empty. */
export function field(form: FormData, name: string): string | null {
  const value = form.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

/** Sends the browser on with GET. */
export function seeOther(url: string): Response {
  return new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store' } })
}

/** A hosted page with the headers that every hosted page has. */
export function respond({ status, html, leadsToSite }: Page): Response {
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': contentSecurityPolicy(leadsToSite === true),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff'
    }
  })
}

/** Chromium also applies form-action to each redirect that follows a form. */
function contentSecurityPolicy(leadsToSite: boolean): string {
  const formAction = leadsToSite ? "'self' https: http:" : "'self'"
  return `default-src 'none'; style-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}
