import type { AppError } from '../errors.ts'
import { messagePage } from './page.ts'
import type { PageReply } from './page.ts'

type Words = { title: string; text: string | null }

/** The text is null where the error's own message is for the person in front of the page. */
const wordsByStatus: Readonly<Record<number, Words>> = {
  403: { title: 'This was not sent from here', text: null },
  404: { title: 'There is nothing here', text: 'The address may be mistyped, or the page has gone.' },
  405: { title: 'That does not work here', text: null },
  410: { title: 'This is over', text: null },
  413: { title: 'That was too much', text: 'The form holds more than this page takes.' },
  415: { title: 'That was no form', text: 'This page takes the form that it shows.' },
  429: { title: 'Please wait a little', text: 'There were too many tries. Please come back later.' },
  500: { title: 'Something went wrong', text: 'It is our fault, not yours. Please try again in a moment.' },
  503: { title: 'We are very busy', text: 'Please try again in a moment.' }
}

const otherwise: Words = { title: 'That did not work', text: null }

/** An error as people see it. */
export function errorPage(error: Pick<AppError, 'status' | 'message' | 'headers'>): PageReply {
  const { title, text } = wordsByStatus[error.status] ?? otherwise
  return { ...messagePage(error.status, title, [text ?? error.message]), headers: error.headers }
}
