import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** An email as a shop without a mail server writes it to a file. */
export type MailFile = {
  to: string
  subject: string
  text: string
  html: string
  links: { verify?: string; reset?: string; email?: string; undo?: string }
  attachments?: { name: string; type: string; base64: string }[]
}

/** The emails to an address, oldest first. */
export function mailsTo(dataDir: string, email: string): MailFile[] {
  return mailFiles(dataDir).filter(({ to }) => to === email)
}

/** Waits for the `count`th email to an address; the mailer may take two seconds. @throws Error when it does not come */
export function nextMail(dataDir: string, email: string, count = 1): Promise<MailFile> {
  return until(`email number ${count} to ${email}`, () => mailsTo(dataDir, email)[count - 1])
}

/** The token in a message's link. */
export function tokenOf(link: string | undefined): string {
  return new URL(link ?? '').searchParams.get('token') ?? ''
}

/** Every email, oldest first. */
export function mailFiles(dataDir: string): MailFile[] {
  const folder = join(dataDir, 'mail')
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as MailFile)
}

/** Empty before the first email, which creates the folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
