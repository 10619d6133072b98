import type { App } from '../app.ts'
import type { AssetName } from './assets.ts'
import { AppError } from '../errors.ts'
import { readBody } from '../platform/http/body.ts'
import { withoutInvisible } from '../platform/text.ts'

/** The request of a page, for its handler. */
export type PageCall = {
  readonly app: App
  /** The API, which the storefront calls in this process. */
  readonly api: (request: Request) => Response | Promise<Response>
  readonly request: Request
  readonly now: number
  /** The key of the client's address for limits. */
  readonly addressKey: string
  /** The parameter of the path, such as an order's public token or a product's slug. */
  readonly param: string
}

/** A page to render. */
export type HtmlReply = {
  readonly status: number
  /** The name of the file in templates/, without its extension. */
  readonly template: string
  readonly title: string
  readonly data: object
  /** The origins that a form on this page may redirect to, in addition to the shop's own. */
  readonly leadsTo?: readonly (string | null)[]
  readonly headers?: Readonly<Record<string, string>>
  /** Not on a page that shared caches carry. */
  readonly setCookie?: string | readonly string[]
  /** The script of a storefront page. */
  readonly script?: AssetName
  /**
   * Whether search engines may list the page. Such a page is the same for every visitor, so it is compressed, and shared
   * caches may carry it.
   */
  readonly indexed?: boolean
  /** The address of a picture that the page shows from another origin. */
  readonly pictureFrom?: string
}

/** The answer of a page. */
export type PageReply =
  | HtmlReply
  /** `isMoved` is for good. */
  | { readonly redirect: string; readonly isMoved?: true; readonly setCookie?: string | readonly string[] }
  /** A file, such as a sitemap. `isPrivate` keeps it out of every cache, because it belongs to one person. */
  | { readonly text: string; readonly type: string; readonly isPrivate?: boolean }
  /** A file with personal data, which the browser shows under `name`. */
  | { readonly file: Uint8Array<ArrayBuffer>; readonly type: string; readonly name: string }
  /** A file with personal data that is made while it is sent, and which the browser stores. */
  | { readonly stream: ReadableStream<Uint8Array>; readonly type: string; readonly name: string }

export type PageRoute = {
  readonly method: 'GET' | 'POST'
  /** Matches the path as it was sent. Its group, if it has one, is the call's `param`. */
  readonly path: RegExp
  /** Its path in the log, without a token. */
  readonly name: string
  readonly handle: (call: PageCall) => PageReply | Promise<PageReply>
}

const limitBytes = 16 * 1024
// A byte order mark is part of the text.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const formType = /^application\/x-www-form-urlencoded[ \t]*(;|$)/i

/**
 * Reads the fields of a submitted form.
 *
 * @throws AppError PAYLOAD_TOO_LARGE above `limit` bytes, UNSUPPORTED_MEDIA_TYPE
 */
export async function readForm(request: Request, limit = limitBytes): Promise<URLSearchParams> {
  const body = await readBody(request, limit)
  if (body.length > 0 && !formType.test(request.headers.get('content-type') ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only a submitted form.')
  }
  return new URLSearchParams(utf8.decode(body))
}

const uploadType = /^multipart\/form-data[ \t]*;/i

/**
 * Reads a submitted form that may contain files. It leaves out the file fields that the visitor left empty.
 *
 * @param uploadLimit the most bytes of a form with files
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, VALIDATION_FAILED for a form that is broken
 */
export async function readFormWithFiles(
  request: Request,
  limit: number,
  uploadLimit: number
): Promise<{ form: URLSearchParams; files: { name: string; bytes: Uint8Array }[] }> {
  const type = request.headers.get('content-type') ?? ''
  if (!uploadType.test(type)) return { form: await readForm(request, limit), files: [] }
  const body = await readBody(request, uploadLimit)
  const data = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new AppError('VALIDATION_FAILED', 'The form is broken. Please send it again.')
  })
  const form = new URLSearchParams()
  const files: { name: string; bytes: Uint8Array }[] = []
  for (const [name, value] of data) {
    if (typeof value === 'string') form.append(name, value)
    else if (value.size > 0)
      files.push({ name: fileName(value.name), bytes: new Uint8Array(await value.arrayBuffer()) })
  }
  return { form, files }
}

/** The name of a file that a visitor sent: no path or address, because a later command would open it, and no control characters. */
function fileName(sent: string): string {
  const last = sent.split(/[/\\:]/).at(-1) ?? ''
  const plain = withoutInvisible(last.replaceAll(/\p{Cc}/gu, '')).trim()
  return plain.slice(-100).toWellFormed() || 'file'
}
