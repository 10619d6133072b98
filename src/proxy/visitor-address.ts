/**
 * A client's address as a framework reports it: without a port, brackets or zone. Undefined for anything that is not one
 * address, such as the whole X-Forwarded-For header, whose first entries the client can forge.
 */
export function visitorAddress(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim() ?? ''
  return ipv4.exec(trimmed)?.[1] ?? bracketed.exec(trimmed)?.[1] ?? ipv6.exec(trimmed)?.[1]
}

const ipv4 = /^(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$/
const bracketed = /^\[([\da-f:.]+)(?:%[\w.]+)?\](?::\d+)?$/i
const ipv6 = /^([\da-f]*:[\da-f]*:[\da-f:.]*)(?:%[\w.]+)?$/i
