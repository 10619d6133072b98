import type { App } from '../app.ts'
import type { AssetName } from './assets.ts'

/** What a page's handler knows of its request. */
export type PageCall = {
  readonly app: App
  readonly request: Request
  readonly now: number
  /** The client's address, as limits count it. */
  readonly addressKey: string
  /** What the path names: an order's public token, a product's slug. */
  readonly param: string
}

/** A page to be rendered, or where the browser is to go instead. */
export type PageReply =
  | {
      readonly status: number
      /** File in templates/, without its ending. */
      readonly template: string
      readonly title: string
      readonly data?: object
      /** Addresses that a form on this page may lead to in the end, beside our own. */
      readonly leadsTo?: readonly (string | null)[]
      readonly headers?: Readonly<Record<string, string>>
      /** The script of a storefront page. Such a page is the same for everybody: it may be kept and compressed. */
      readonly script?: AssetName
    }
  | { readonly redirect: string; readonly setCookie?: string }

export type PageRoute = {
  readonly method: 'GET' | 'POST'
  /** Matched on the path as it was sent; its one group, where it has one, is the call's `param`. */
  readonly path: RegExp
  /** How the log calls it: without the token in its path. */
  readonly name: string
  readonly handle: (call: PageCall) => PageReply | Promise<PageReply>
}

/** A page that says one thing. */
export function messagePage(
  status: number,
  title: string,
  paragraphs: readonly string[],
  links: readonly { label: string; url: string }[] = []
): PageReply {
  return { status, template: 'message', title, data: { paragraphs, links } }
}
