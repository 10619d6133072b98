import { BlockList, isIP } from 'node:net'
import { plainAddress } from '../http/client-address.ts'

/** What is not globally reachable, by IANA's registry of special-purpose IPv4 addresses, and the relays of 6to4 (RFC 7526). */
const ranges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4'
]

/**
 * IPv6 has one range of global unicast addresses (RFC 4291, 2.4). Everything outside of it is refused without a list: IPv4
 * inside IPv6 in all its forms, translators, local and multicast addresses.
 */
const globalUnicast = '2000::/3'
/** What IANA set apart within that range: protocol assignments with Teredo, documentation, 6to4. */
const ranges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const notPublic4 = listOf(ranges4, 'ipv4')
const notPublic6 = listOf(ranges6, 'ipv6')
const global6 = listOf([globalUnicast], 'ipv6')

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}

/**
 * Whether an IP address is on the public internet: not private, loopback, link-local, multicast or reserved (IANA's
 * special-purpose registries), also not as IPv4 inside IPv6.
 */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address)
  const version = isIP(plain)
  if (version === 4) return !notPublic4.check(plain, 'ipv4')
  return version === 6 && global6.check(plain, 'ipv6') && !notPublic6.check(plain, 'ipv6')
}
