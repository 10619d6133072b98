import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A message as a shop without a mail server leaves it in its folder. */
export type MailFile = {
  to: string
  subject: string
  text: string
  html: string
  links: { verify?: string; reset?: string }
}

/** Every message to someone, oldest first. */
export function mailsTo(dataDir: string, email: string): MailFile[] {
  return mailFiles(dataDir).filter(({ to }) => to === email)
}

/** The `count`th message to someone, as soon as it is there; a message may take two seconds. */
export async function nextMail(dataDir: string, email: string, count = 1): Promise<MailFile> {
  for (let tries = 0; tries < 200; tries += 1) {
    const mail = mailsTo(dataDir, email)[count - 1]
    if (mail !== undefined) return mail
    await sleep(50)
  }
  throw new Error(`No message number ${count} came for ${email}.`)
}

/** The token in a message's link. */
export function tokenOf(link: string | undefined): string {
  return new URL(link ?? '').searchParams.get('token') ?? ''
}

function mailFiles(dataDir: string): MailFile[] {
  const folder = join(dataDir, 'mail')
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as MailFile)
}

/** None while nothing has been sent yet: the first message makes the folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
