import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export type Received = { to: string[]; raw: string; header(name: string): string | undefined }

export type Mailbox = {
  readonly url: string
  urlFor(user: string, password: string): string
  readonly received: Received[]
  [Symbol.asyncDispose](): Promise<void>
}

type Options = {
  /** The answers for the next recipients, one each; later recipients are accepted. */
  answers?: { code: number; message: string }[]
  login?: { user: string; password: string }
  /** Offers STARTTLS with a certificate of its own. */
  tls?: boolean
}

/** Starts an SMTP server on a free port that records messages. `await using mailbox = await startMailbox()` stops it. */
export async function startMailbox(options: Options = {}): Promise<Mailbox> {
  const answers = [...(options.answers ?? [])]
  const received: Received[] = []
  const { login } = options
  const server = new SMTPServer({
    disabledCommands: [...(options.tls === true ? [] : ['STARTTLS']), ...(login === undefined ? ['AUTH'] : [])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    authOptional: login === undefined,
    onAuth: ({ username, password }, _session, done) =>
      login !== undefined && username === login.user && password === login.password
        ? done(null, { user: 'shop' })
        : done(new Error(`Invalid login with ${password}`)),
    onRcptTo: (_address, _session, done) => {
      const answer = answers.shift()
      done(answer === undefined ? null : Object.assign(new Error(answer.message), { responseCode: answer.code }))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        received.push(
          toReceived(
            Buffer.concat(chunks).toString('utf8'),
            session.envelope.rcptTo.map(({ address }) => address)
          )
        )
        done()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    urlFor: (user, password) => `smtp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve))
  }
}

function toReceived(raw: string, to: string[]): Received {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ')
  return {
    to,
    raw,
    header: (name) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim()
  }
}
