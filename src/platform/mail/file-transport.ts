import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MailMessage } from './message.ts'

/** The folder with the messages of a shop without a mail server. */
export function mailFolder(dataDir: string): string {
  return join(dataDir, 'mail')
}

/**
 * Writes a message to `<time>-<id>.json` atomically and returns the name. The name contains the time when the message was
 * queued, so that a retry after a crash writes the same file.
 */
export async function writeMailFile(folder: string, message: MailMessage): Promise<string> {
  const name = `${fileTime(message.createdAt)}-${message.id}.json`
  const { to, subject, text, html, links, attachments = [] } = message
  const files = attachments.map(({ name: file, type, content }) => ({ name: file, type, base64: toBase64(content) }))
  const shown = { to, subject, text, html, links, ...(files.length === 0 ? {} : { attachments: files }) }
  const draft = join(folder, `.${name}.${process.pid}`)
  await writeFile(draft, `${JSON.stringify(shown, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, join(folder, name))
  return name
}

const toBase64 = (content: Uint8Array): string => Buffer.from(content).toString('base64')

/** ISO 8601 without the colons that some file systems reject: `2026-01-15T12-00-00.000Z`. */
function fileTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replaceAll(':', '-')
}
