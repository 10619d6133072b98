import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * How the server treats one try to hand over a message:
 * - `takes` it;
 * - `greylists`: refuses the recipient for now (451), as RFC 6647 describes;
 * - `drops`: ends the connection when the message has arrived, without an answer to it;
 * - `drops after taking`: takes the message and ends the connection before QUIT;
 * - `refuses late`: accepts the recipient, reads the message and refuses it then (452, no space);
 * - `stalls`: answers the end of the message with a line every second that does not end its answer, so it is never silent.
 */
export type Treatment = 'takes' | 'greylists' | 'drops' | 'drops after taking' | 'refuses late' | 'stalls'

export type DifficultMailServer = {
  readonly url: string
  /** The recipient and the Message-ID of each message that it has taken. */
  readonly taken: readonly { to: string; id: string }[]
  /** The recipients whose messages wait in a stalled connection; emptied when the sender ends it. */
  readonly waiting: ReadonlySet<string>
  /** How many connections are open. */
  readonly connections: number
}

/** A mail server that treats each message as the test says. `tries` counts the tries for the recipient from 1. It ends with the test. */
export async function startDifficultMailServer(
  treatmentOf: (to: string, tries: number) => Treatment
): Promise<DifficultMailServer> {
  const sockets = new Set<Socket>()
  const taken: { to: string; id: string }[] = []
  const waiting = new Set<string>()
  const tries = new Map<string, number>()
  const server = createServer((socket) => {
    let to = ''
    let treatment: Treatment = 'takes'
    let message: string | undefined
    let line: NodeJS.Timeout | undefined
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      clearInterval(line)
      if (treatment === 'stalls') waiting.delete(to)
    })
    const endMessage = (text: string): void => {
      if (treatment === 'drops') return void socket.destroy()
      if (treatment === 'refuses late') return void socket.write('452 no space left\r\n')
      if (treatment === 'stalls') {
        waiting.add(to)
        line = setInterval(() => socket.write('250-please wait\r\n'), 1_000)
        return
      }
      taken.push({ to, id: /^message-id: *(.*)$/im.exec(text)?.[1] ?? '' })
      if (treatment === 'drops after taking') socket.end('250 ok\r\n')
      else socket.write('250 ok\r\n')
    }
    socket.write('220 difficult.example\r\n')
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (message !== undefined) {
        message += text
        if (!message.endsWith('\r\n.\r\n')) return
        const whole = message
        message = undefined
        return endMessage(whole)
      }
      const recipient = /^RCPT TO:<(.*)>/im.exec(text)?.[1]
      if (recipient !== undefined) {
        to = recipient
        tries.set(to, (tries.get(to) ?? 0) + 1)
        treatment = treatmentOf(to, tries.get(to) ?? 1)
        socket.write(treatment === 'greylists' ? '451 greylisted, try again later\r\n' : '250 ok\r\n')
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
  return {
    url: `smtp://127.0.0.1:${port}`,
    taken,
    waiting,
    get connections() {
      return sockets.size
    }
  }
}
