import { account } from './account.ts'
import { desk } from './desk.ts'
import { deskPages } from './desk-pages.ts'
import { documents } from './documents.ts'
import { errors } from './errors.ts'
import { law } from './law.ts'
import { mails } from './mails.ts'
import { pages } from './pages.ts'
import { refusals } from './refusals.ts'

/** All texts in French. Spreading so many keys would cost each command 7 MB of memory. */
export const fr = Object.assign(
  Object.assign(Object.assign({}, pages, account), desk, deskPages),
  Object.assign({}, mails, law),
  documents,
  Object.assign({}, errors, refusals)
)
