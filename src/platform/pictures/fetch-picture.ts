import { lookup as systemLookup } from 'node:dns/promises'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { maxPictureBytes, PictureError, tooLarge } from './picture-kind.ts'
import { isPublicAddress } from './public-address.ts'

const maxRedirects = 5
const tooSlow = 'The server did not send the picture within 30 seconds.'

export type FetchOptions = {
  /** Whether an IP address may be connected to; by default only public ones. */
  mayConnect?: ((address: string) => boolean) | undefined
  /** The addresses of a host name; DNS by default. */
  resolve?: ((host: string) => Promise<string[]>) | undefined
  /** For all of it, from the first DNS look-up to the last byte; 30 seconds by default. */
  timeoutMs?: number
}

/**
 * Fetches a picture of another site.
 *
 * An import file comes from outside and must not make the shop read its own network (OWASP: server-side request forgery).
 * Every address is checked when the connection is made, and the connection goes to the address that was checked, so
 * neither a redirect nor a DNS answer that changes can lead elsewhere.
 *
 * @throws PictureError with the reason when the picture cannot be fetched
 */
export async function fetchPicture(source: string, options: FetchOptions): Promise<Buffer> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000)
  let url = usable(URL.parse(source))
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const response = await get(url, options, signal)
    const { statusCode = 0, headers } = response
    if (statusCode === 200) return read(response, signal)
    response.destroy()
    const { location } = headers
    const next = statusCode >= 300 && statusCode < 400 && location !== undefined ? URL.parse(location, url.href) : null
    if (next === null) throw new PictureError(`The server answered with status ${statusCode}.`)
    if (next.protocol !== 'http:' && next.protocol !== 'https:')
      throw new PictureError('The server redirects to an address that is not http or https.')
    url = usable(next)
  }
  throw new PictureError(`The server redirects more than ${maxRedirects} times.`)
}

/** Node decodes credentials and throws for some, so they are refused. @throws PictureError */
function usable(url: URL | null): URL {
  if (url === null) throw new PictureError('The address is not a valid URL.')
  if (url.username === '' && url.password === '') return url
  throw new PictureError('The address contains a user name or a password.')
}

async function get(url: URL, options: FetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await checkedAddresses(url, options, signal)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const headers = { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'Shopstead' }
  return new Promise((resolve, reject) => {
    request(url, { agent: false, headers, signal, lookup: answerWith(addresses) })
      .on('response', resolve)
      .on('error', (cause) => {
        reject(new PictureError(signal.aborted ? tooSlow : reasonOf(cause), { cause }))
      })
      .end()
  })
}

/** The addresses to which a request may connect. @throws PictureError when there are none */
async function checkedAddresses(
  url: URL,
  { mayConnect = isPublicAddress, resolve = addressesOf }: FetchOptions,
  signal: AbortSignal
): Promise<string[]> {
  const host = url.hostname.replaceAll(/[[\]]/g, '')
  const found = isIP(host) === 0 ? await Promise.race([resolve(host).catch(() => []), ended(signal)]) : [host]
  if (found.length === 0) throw new PictureError('The host name of the address is not known.')
  const usable = found.filter(mayConnect)
  if (usable.length > 0) return usable
  throw new PictureError(
    'The address belongs to a private network. Pass --allow-private if pictures may be fetched from there.'
  )
}

/** Rejects at the end of the time: a DNS look-up cannot be aborted. */
async function ended(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw new PictureError(tooSlow)
}

/** Connects to these addresses without another look-up. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all }, callback) => {
    if (all === true) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family)
  }
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  return `The server could not be reached${code}.`
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await systemLookup(host, { all: true })
  return found.map(({ address }) => address)
}

async function read(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxPictureBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof PictureError) throw error
    const reason = signal.aborted ? tooSlow : 'The connection ended before the picture was complete.'
    throw new PictureError(reason, { cause: error })
  }
  return Buffer.concat(chunks)
}
