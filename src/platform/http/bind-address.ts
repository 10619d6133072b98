import { lookup } from 'node:dns/promises'
import { createServer, isIP } from 'node:net'
import { AppError } from '../../errors.ts'

/**
 * The IP address that a host names. listhen takes a name it dislikes for "every interface", so it is only ever handed
 * an address.
 *
 * @throws CONFIG_INVALID for a name that does not resolve
 */
export async function resolveHost(host: string): Promise<string> {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) !== 0 && !name.includes('%')) return name
  try {
    if (name === '') throw new Error('no host was given')
    const { address } = await lookup(name)
    return address
  } catch (cause) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot listen on host ${JSON.stringify(host)}: it does not resolve.`,
      {},
      { cause }
    )
  }
}

/**
 * Binds a port for a moment, to learn from the system itself why it cannot be had.
 *
 * @throws CONFIG_INVALID naming the port
 */
export async function checkPort(address: string, port: number): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new AppError('CONFIG_INVALID', 'A port is a whole number from 0 to 65535.')
  }
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(portUnavailable(address, port, cause)))
    server.listen({ host: address, port }, () => server.close(() => resolve()))
  })
}

/** Says in one line why a port cannot be listened on, and what to do about it. */
export function portUnavailable(address: string, port: number, cause: unknown): AppError {
  const message = `Cannot listen on port ${port} of ${address}: ${reasonOf(cause)}`
  return new AppError('CONFIG_INVALID', message, { port }, { cause })
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') return 'another program already uses it. Stop that program or choose another port.'
  if (code === 'EACCES') return 'this user may not. Choose a port from 1024 up.'
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address.'
  return cause instanceof Error ? cause.message : 'for an unknown reason.'
}
