import { BlockList, isIP } from 'node:net'
import { plainAddress } from '../http/client-address.ts'

const ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8'
]

const notPublic = new BlockList()
for (const range of ranges) {
  const [network = '', bits] = range.split('/')
  notPublic.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
}

/**
 * Whether an IP address is on the public internet: not private, loopback, link-local, multicast or reserved (IANA's
 * special-purpose registries), also not as IPv4 inside IPv6.
 */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address)
  const version = isIP(plain)
  return version !== 0 && !notPublic.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}
