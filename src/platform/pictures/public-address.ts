import ipaddr from 'ipaddr.js'

/**
 * IPv6 has one range of global unicast addresses (RFC 4291, 2.4). The library's table does not name everything outside of
 * it: IPv4 addresses inside IPv6 (`::7f00:1`), and what IANA has not assigned.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an IP address is on the public internet: not private, loopback, link-local, multicast, reserved or a relay's. */
export function isPublicAddress(text: string): boolean {
  const [unzoned = ''] = text.split('%')
  if (!ipaddr.isValid(unzoned)) return false
  // As IPv4, if it is an IPv4 address mapped to IPv6.
  const address = ipaddr.process(unzoned)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}
