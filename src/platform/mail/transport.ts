import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { writeMailFile } from './file-transport.ts'
import type { MailTransport } from './message.ts'
import { openSmtp } from './smtp-transport.ts'

type Options = {
  /** Null to write files. */
  smtpUrl: string | null
  from: string
  /** Where messages are written when there is no SMTP server. */
  folder: string
  log: Logger
}

/** Sends messages by SMTP if a server is configured; otherwise writes each to a file and logs its path. */
export function createMailTransport({ smtpUrl, from, folder, log }: Options): MailTransport {
  return smtpUrl === null ? fileTransport(folder, log) : openSmtp({ url: smtpUrl, from })
}

function fileTransport(folder: string, log: Logger): MailTransport {
  return {
    async send(message) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = await writeMailFile(folder, message)
      log.info('no SMTP server is configured: a message was written to a file', { file: join(folder, name) })
    }
  }
}
