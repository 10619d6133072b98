import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type StallingServer = {
  readonly url: string
  /** The recipients of the messages that it has taken, and of those that it lets wait. */
  readonly taken: readonly string[]
  readonly waiting: readonly string[]
}

/**
 * A mail server that lets messages to some recipients wait: it answers their end with a line every second that does not
 * end its answer, so it is never silent. It ends with the test.
 */
export async function startStallingServer({
  stalls = () => true
}: { stalls?: (to: string) => boolean } = {}): Promise<StallingServer> {
  const sockets = new Set<Socket>()
  const taken: string[] = []
  const waiting: string[] = []
  const server = createServer((socket) => {
    let to = ''
    let message: string | undefined
    let line: NodeJS.Timeout | undefined
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => clearInterval(line))
    socket.write('220 slow.example\r\n')
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      to = /^RCPT TO:<(.*)>/im.exec(text)?.[1] ?? to
      if (message !== undefined) {
        message += text
        if (!message.endsWith('\r\n.\r\n')) return
        message = undefined
        if (stalls(to)) {
          waiting.push(to)
          line = setInterval(() => socket.write('250-please wait\r\n'), 1_000)
        } else {
          taken.push(to)
          socket.write('250 ok\r\n')
        }
      } else if (/^DATA/i.test(text)) {
        message = ''
        socket.write('354 go on\r\n')
      } else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n')
      else socket.write('250 ok\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, taken, waiting }
}
