import type { App } from '../app.ts'
import type { AppError } from '../errors.ts'
import { messagePage } from './page.ts'
import type { PageReply } from './page.ts'
import { homeLinks } from './shop-home.ts'

type Words = { title: string; text: string | null }

/** The text is null where the error's own message is meant for the reader of the page. */
const wordsByStatus: Readonly<Record<number, Words>> = {
  401: { title: 'Please log in', text: null },
  403: { title: 'This form was sent from another site', text: null },
  404: { title: 'Page not found', text: 'The address may be mistyped, or the page no longer exists.' },
  405: { title: 'This page does not support that action', text: null },
  410: { title: 'This page is no longer available', text: null },
  413: { title: 'The form is too large', text: 'The form contains more text than this page accepts.' },
  415: { title: 'This page accepts only its own form', text: 'Go back, reload the page, and send its form.' },
  429: { title: 'Too many attempts', text: 'Please wait a few minutes, then try again.' },
  500: { title: 'Something went wrong', text: 'This is a fault on our side. Please try again in a minute.' },
  503: { title: 'The shop is busy', text: 'Please try again in a moment.' }
}

const otherwise: Words = { title: 'Something went wrong', text: null }

/** The page for an error, with a link to the shop. */
export function errorPage(app: App, error: Pick<AppError, 'status' | 'message' | 'headers'>): PageReply {
  const { title, text } = wordsByStatus[error.status] ?? otherwise
  return { ...messagePage(error.status, title, [text ?? error.message], linksOf(app)), headers: error.headers }
}

/** The database may be the reason for the error, and the storefront is a setting in it. */
function linksOf(app: App): ReturnType<typeof homeLinks> {
  try {
    return homeLinks(app)
  } catch {
    return []
  }
}
