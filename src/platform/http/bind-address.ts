import { lookup } from 'node:dns/promises'
import { createServer, isIP } from 'node:net'
import { AppError } from '../../errors.ts'

/**
 * Resolves a host name to an IP address. listhen listens on every interface when it cannot use a name, so it must get an
 * address.
 *
 * @throws AppError CONFIG_INVALID for a name that does not resolve
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
      `Cannot listen on host ${JSON.stringify(host)}: the name does not resolve to an address.`,
      {},
      { cause }
    )
  }
}

/**
 * Binds a port briefly, so that a failure has the operating system's reason.
 *
 * @throws AppError CONFIG_INVALID with the port and the reason
 */
export async function checkPort(address: string, port: number): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new AppError('CONFIG_INVALID', 'The port must be a whole number from 0 to 65535.')
  }
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(portUnavailable(address, port, cause)))
    server.listen({ host: address, port }, () => server.close(() => resolve()))
  })
}

/** CONFIG_INVALID with the reason why a port is not available and what to do about it. */
export function portUnavailable(address: string, port: number, cause: unknown): AppError {
  const message = `Cannot listen on port ${port} of ${address}: ${reasonOf(cause)}`
  return new AppError('CONFIG_INVALID', message, { port }, { cause })
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EADDRINUSE') return 'another program already uses it. Stop that program or choose another port.'
  if (code === 'EACCES') return 'this user does not have permission. Choose a port of 1024 or higher.'
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address.'
  return cause instanceof Error ? cause.message : 'the reason is unknown.'
}
